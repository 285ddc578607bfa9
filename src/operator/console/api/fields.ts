import Type from 'typebox';
import { AppError } from '../../../errors.ts';
import { parseCanonicalInt64 } from '../../../int64.ts';

/** Number of rows on a page of the console. */
export const pageRows = 50;

/** The schema of an int64 in a body. The value is a text, because a browser would lose digits of a large number. */
export function int64Text() {
  return Type.String({ pattern: '^(?:0|-?[1-9]\\d{0,18})$', maxLength: 20, rule: 'must be a whole number' });
}

/** The id of the first row of a page. It is the `next` of the previous page. */
export const beforeField = Type.Optional(Type.Unsafe<bigint>({ type: 'integer', format: 'int64' }));

export const int64Filter = beforeField;

/** A text to search for. PostgreSQL accepts no text with U+0000. */
export const textFilter = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^[^\\u0000]*$',
    rule: 'must have 1 to 255 characters and no U+0000',
  }),
);

/** A time in UTC without its zone, to the minute, as the field of a form has it. */
export const minuteFilter = Type.Optional(
  Type.String({
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d$',
    rule: 'must be a time such as 2027-01-02T12:00',
  }),
);

/** Parses a `minuteFilter` field. */
export function readMinute(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(`${text}Z`);
}

/** Parses an `int64Text` field. Throws `invalid_body` if the value does not fit 64 bits. */
export function readInt64(text: string, field: string): bigint {
  const value = parseCanonicalInt64(text);
  if (value === null) throw new AppError('invalid_body', `${field} must be a whole number that fits 64 bits`);
  return value;
}

/** Parses the id in a path. Throws `not_found` if the text is not an id. */
export function readId(text: string | undefined, what: string): bigint {
  const id = parseCanonicalInt64(text ?? '');
  if (id === null) throw new AppError('not_found', `there is no ${what} with this identifier`);
  return id;
}

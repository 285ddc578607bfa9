import Type from 'typebox';
import { AppError } from '../../../errors.ts';
import { parseCanonicalInt64 } from '../../../int64.ts';
import { int64Field } from '../../../schema.ts';

/** Number of rows on a page of the console. */
export const pageRows = 50;

/** The schema of an int64 in a body. The value is a text, because a browser would lose digits of a large number. */
export const int64Text = Type.String({
  pattern: '^(?:0|-?[1-9]\\d{0,18})$',
  maxLength: 20,
  rule: 'must be a whole number',
});

/** An int64 to search for. A list also takes one as `before`: the `next` of the previous page. */
export const int64Filter = Type.Optional(int64Field('An int64.'));

/** A text to search for. PostgreSQL accepts no text with U+0000. */
export const textFilter = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^[^\\u0000]*$',
    rule: 'must have 1 to 255 characters and no U+0000',
  }),
);

const timeRule = 'must be a time in UTC, such as 2027-01-02 12:00';

/** A time in UTC as the pages write it, or only a date or a part of the time. */
export const timeFilter = Type.Optional(
  Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d(?:[ T]\\d\\d:\\d\\d(?::\\d\\d)?Z?)?$', rule: timeRule }),
);

/** Returns the Unix milliseconds of a `timeFilter`. Throws `invalid_parameter` if there is no such time. */
export function readTime(text: string | undefined, field: string): number | undefined {
  if (text === undefined) return undefined;
  const [day = '', time = '00:00'] = text.replace('Z', '').split(/[ T]/);
  const ms = Date.parse(`${day}T${time}Z`);
  if (Number.isNaN(ms)) throw new AppError('invalid_parameter', `${field} ${timeRule}`);
  return ms;
}

/** Parses an `int64Text` field. Throws `invalid_body` if the value does not fit 64 bits. */
export function readInt64(text: string, field: string): bigint {
  const value = parseCanonicalInt64(text);
  if (value === null) throw new AppError('invalid_body', `${field} must be a whole number that fits 64 bits`);
  return value;
}

/** Parses the id in a path. Throws `not_found` if the text is not an id. */
export function readId(text: string, what: string): bigint {
  const id = parseCanonicalInt64(text);
  if (id === null) throw new AppError('not_found', `there is no ${what} with this identifier`);
  return id;
}

import Type from 'typebox';
import { AppError } from '../../errors.ts';

/** Number of items on a page if the request has no `limit`. */
export const defaultLimit = 20;
/** Maximum number of items on a page. */
export const limitMax = 100;

/** The query parameter `limit` of a list. `items` names what the list contains. */
export function limitField(items: string) {
  return Type.Integer({
    minimum: 1,
    maximum: limitMax,
    default: defaultLimit,
    description: `Maximum number of ${items} returned.`,
    examples: [20],
  });
}

/** The query parameter `cursor` of a list. `rule` completes the message about an invalid cursor. */
export function cursorField(rule: string, example: string) {
  return Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: '^[A-Za-z0-9_-]+$',
    rule,
    description: 'Where the page begins: copied from the `Link` of the page before.',
    examples: [example],
  });
}

/** Returns the 400 error for a cursor of another list. */
export function invalidCursor(rule: string): AppError {
  return new AppError('invalid_parameter', `cursor ${rule}`);
}

import type { Description, Schema } from './description.ts';

/** Returns the type of a value in words, such as `integer (int64)`, `array of strings` or `null or string`. */
export function nameType(schema: Schema, { resolve }: Pick<Description, 'resolve'>): string {
  const { type, format, items, anyOf, oneOf } = resolve(schema);
  const variants = anyOf ?? oneOf;
  if (variants !== undefined)
    return [...new Set(variants.map((variant) => nameType(variant, { resolve })))].join(' or ');
  if (items !== undefined) return `array of ${nameType(items, { resolve }).replace(/^\w+/, '$&s')}`;
  const types = [type ?? 'any'].flat();
  return types
    .map((name) => (name === 'integer' && format !== undefined ? `${name} (${format})` : name))
    .join(' or ');
}

/** Returns the rules of a value as short Markdown phrases. */
export function listRules(schema: Schema, { resolve }: Pick<Description, 'resolve'>): string[] {
  const own = resolve(schema);
  return [
    listChoices(own),
    own.format === 'date-time' ? 'RFC 3339 in UTC, with milliseconds' : null,
    own.format === 'uri' ? 'a URL' : null,
    nameRange(own),
    nameLength(own),
    namePattern(own),
    nameCount(own),
    own.default === undefined ? null : `default \`${writeValue(own.default)}\``,
  ].filter((rule) => rule !== null);
}

function listChoices({ enum: choices, items, const: only }: Schema): string | null {
  if (only !== undefined) return `always \`${writeValue(only)}\``;
  const all = choices ?? items?.enum;
  return all === undefined ? null : `one of ${all.map((choice) => `\`${writeValue(choice)}\``).join(', ')}`;
}

/** Describes the range of a number. Returns null for the full range of int64, because the type already states it. */
function nameRange({ minimum, maximum, format }: Schema): string | null {
  const isWhole = format === 'int64' && typeof minimum === 'bigint' && minimum < 0n;
  if (isWhole || (minimum === undefined && maximum === undefined)) return null;
  if (maximum === undefined) return `at least ${writeNumber(minimum)}`;
  if (minimum === undefined) return `at most ${writeNumber(maximum)}`;
  return `${writeNumber(minimum)} to ${writeNumber(maximum)}`;
}

function nameLength({ minLength = 0n, maxLength, format, enum: choices }: Schema): string | null {
  if (maxLength === undefined || format === 'date-time' || choices !== undefined) return null;
  if (minLength === maxLength) return `${maxLength} characters`;
  const least = minLength === 0n ? 'up to ' : `${writeNumber(minLength)} to `;
  return `${least}${writeNumber(maxLength)} characters`;
}

const patternLengthMax = 32;

/** Describes a pattern. Returns null for a long pattern, because the description of its field explains it. */
function namePattern({ pattern }: Schema): string | null {
  if (pattern === undefined) return null;
  if (pattern === '^[ -~]*$') return 'ASCII without control characters';
  if (pattern === '^[!-~]+$') return 'visible ASCII without spaces';
  if (pattern.includes('\\x00-\\x1f\\x7f')) return 'no control characters';
  return pattern.length > patternLengthMax ? null : `matches \`${pattern}\``;
}

function nameCount({ minItems = 0n, maxItems, items }: Schema): string | null {
  if (items === undefined || maxItems === undefined) return null;
  return minItems === 0n ? `up to ${maxItems} items` : `${minItems} to ${maxItems} items`;
}

function writeNumber(value: bigint | number | undefined): string {
  return value?.toLocaleString('en') ?? '';
}

function writeValue(value: unknown): string {
  return typeof value === 'string' ? value : String(value);
}

import type { Schema } from '../../openapi/parameters.ts';

/** The words for fields that are always there, and for fields that may be absent. */
interface Presence {
  readonly always: string;
  readonly sometimes: string;
}

export const inRequest: Presence = { always: ' **required**', sometimes: '' };
export const inAnswer: Presence = { always: '', sometimes: ' **may be absent**' };

/**
 * Writes the fields of an object, of the items of an array, or of each variant as a Markdown list. Returns an empty
 * string for a schema without fields. `renderProse` gives each field an anchor.
 */
export function writeFields(schema: Schema, presence: Presence, indent = ''): string {
  const { items, anyOf = [], properties = {}, required = [] } = schema;
  if (items !== undefined) return writeFields(items, presence, indent);
  const deeper = `${indent}  `;
  const variants = anyOf.filter((variant) => variant.properties !== undefined);
  const fields = Object.entries(properties).map(([name, field]) => {
    const word = required.includes(name) ? presence.always : presence.sometimes;
    const mark = field['x-stability'] === 'beta' ? ' *beta*' : '';
    const rules = listRules(field).join('; ');
    return [
      `${indent}- ${[
        `\`${name}\` *${nameType(field)}*${word}${mark}`,
        field.description ?? '',
        rules && `*${rules.charAt(0).toUpperCase()}${rules.slice(1)}.*`,
      ]
        .filter(Boolean)
        .join(`  \n${deeper}`)}`,
      writeFields(field, presence, deeper),
    ];
  });
  const kinds = variants.map((variant) => {
    const { title = 'Object', about = variant.description } = variant;
    return [`${indent}- **${title}**: ${about}`, writeFields(variant, presence, deeper)];
  });
  return [...fields, ...kinds].flat().filter(Boolean).join('\n');
}

/** Returns the type of a value in words, such as `integer (int64)`, `array of strings` or `null or string`. */
function nameType({ type, format, items, anyOf }: Schema): string {
  if (anyOf !== undefined) return [...new Set(anyOf.map(nameType))].join(' or ');
  if (items !== undefined) return `array of ${nameType(items).replace(/^\w+/, '$&s')}`;
  const types = [type ?? 'any'].flat();
  return types.map((name) => (name === 'integer' ? `integer (${format ?? 'int32'})` : name)).join(' or ');
}

/** Returns the rules of a value as short Markdown phrases. */
function listRules(schema: Schema): string[] {
  return [
    listChoices(schema),
    schema.format === 'date-time' ? 'RFC 3339 in UTC, with milliseconds' : null,
    schema.format === 'uri' ? 'a URL' : null,
    nameRange(schema),
    nameLength(schema),
    namePattern(schema),
    nameCount(schema),
    schema.default === undefined ? null : `default \`${schema.default}\``,
  ].filter((rule) => rule !== null);
}

function listChoices({ enum: choices, items, anyOf = [], const: only }: Schema): string | null {
  if (only !== undefined) return `always \`${only}\``;
  const all = choices ?? items?.enum ?? anyOf.find((variant) => variant.enum !== undefined)?.enum;
  return all === undefined ? null : `one of ${all.map((choice) => `\`${choice}\``).join(', ')}`;
}

/** Describes the range of a number. Returns null for the full range of int64, because the type already states it. */
function nameRange({ minimum, maximum }: Schema): string | null {
  if (minimum === undefined || maximum === undefined) return null;
  return `${writeNumber(minimum)} to ${writeNumber(maximum)}`;
}

function nameLength({ minLength = 0, maxLength, format, enum: choices }: Schema): string | null {
  if (maxLength === undefined || format === 'date-time' || choices !== undefined) return null;
  if (minLength === maxLength) return `${maxLength} characters`;
  const least = minLength === 0 ? 'up to ' : `${writeNumber(minLength)} to `;
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

function nameCount({ minItems = 0, maxItems, items }: Schema): string | null {
  if (items === undefined || maxItems === undefined) return null;
  return minItems === 0 ? `up to ${maxItems} items` : `${minItems} to ${maxItems} items`;
}

function writeNumber(value: number): string {
  return value.toLocaleString('en');
}

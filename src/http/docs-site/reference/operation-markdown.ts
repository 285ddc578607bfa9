import { commonCodes, type DescribedAnswer, listAnswers } from '../../openapi/answers.ts';
import { responseHeaders } from '../../openapi/headers.ts';
import { groupParameters, type Place } from '../../openapi/parameters.ts';
import type { Schema } from '../../openapi/schemas.ts';
import type { Operation } from '../../operation.ts';
import { jsonTypes } from '../../request/body.ts';
import { formatJson } from '../code.ts';
import { writeSamples } from '../files/samples.js';
import { guides } from '../guides.ts';
import { chooseRequest } from './samples.ts';

const placeTitles: Readonly<Record<Place, string>> = {
  path: 'Path parameters',
  query: 'Query parameters',
  header: 'Headers',
};

/** Writes the page of an operation as Markdown. */
export function writeOperation(operation: Operation, baseUrl: string): string {
  const { method, path, summary } = operation;
  const samples = writeSamples(chooseRequest(operation, baseUrl));
  const examples = Object.values(operation.answers).flatMap((answer) => Object.values(answer.examples ?? {}));
  return `${[
    `# ${summary}`,
    `\`${method} ${path}\`${writeMarks(operation)}`,
    writeIntroduction(operation),
    writeProse(operation),
    '## Examples',
    ...samples.map(({ language, code }) => `\`\`\`${language.toLowerCase()}\n${code}\n\`\`\``),
    ...examples.map(({ value }) => `\`\`\`json\n${formatJson(value)}\n\`\`\``),
  ].join('\n\n')}\n`;
}

export function writeMarks({ stability, deprecation }: Operation): string {
  const removedOn = deprecation && new Date(deprecation.removedAtMs).toISOString().slice(0, 10);
  return `${stability === 'beta' ? ' *beta*' : ''}${removedOn ? ` *deprecated, removed on ${removedOn}*` : ''}`;
}

/** Writes what an operation does, the scope that it needs, and its guide. */
export function writeIntroduction({ description, scope, guide }: Operation): string {
  const names = [scope ?? []].flat().map((one) => `[\`${one}\`](../authentication#scopes)`);
  const needs =
    scope === null
      ? 'Any API key may call this operation.'
      : `Needs a key with the scope ${names.join(' or ')}.`;
  const known = guides.find(({ name }) => name === guide);
  return [description, needs, known && `Guide: [${known.title}](../${known.name})`]
    .filter(Boolean)
    .join('\n\n');
}

/** Writes the parameters, the body, the answers and the errors of an operation. */
export function writeProse(operation: Operation): string {
  const { body, bodyTypes = jsonTypes.plain } = operation;
  const answers = listAnswers(operation);
  const parameters = groupParameters(operation).map(([place, schema]) => {
    const fields = writeFields(schema, inRequest);
    return fields && `## ${placeTitles[place]}\n\n${fields}`;
  });
  const types = bodyTypes.map((type) => `\`${type}\``).join(' or ');
  return [
    ...parameters,
    ...(body === undefined ? [] : ['## Body', types, writeFields(body, inRequest)]),
    '## Responses',
    ...answers.filter(({ status }) => status < 400).flatMap(writeAnswer),
    'Every response has [these headers](./headers) too.',
    '## Errors',
    ...writeErrors(answers),
  ]
    .filter(Boolean)
    .join('\n\n');
}

function writeAnswer({ status, description, body, headers }: DescribedAnswer): string[] {
  const listed = headers.map(
    (name) => `  - \`${name.replace(/^.+Link$/, 'Link')}\`: ${responseHeaders[name].description}`,
  );
  return [
    `### \`${status}\` ${description}`,
    body !== undefined && 'items' in body ? 'An array. Each item has these fields:' : '',
    body === undefined ? '' : writeFields(body, inAnswer),
    listed.length === 0 ? '' : ['- Headers of this response', ...listed].join('\n'),
  ];
}

type Failure = { readonly status: number; readonly code: string; readonly message: string };

const others = '[Errors](../errors#all-codes) lists the errors of every operation too.';

function writeErrors(answers: readonly DescribedAnswer[]): string[] {
  const all = answers
    .filter(({ status }) => status >= 400)
    .flatMap(({ examples = {} }) => Object.values(examples).map(({ value }) => value as Failure));
  const own = all.filter(({ code }) => !commonCodes.has(code));
  return own.length === 0 ? [others] : [writeCodes(own), others];
}

function writeCodes(failures: readonly Failure[]): string {
  const rows = failures.map(({ status, code, message }) => {
    const text = message.replaceAll(/[*<|]/g, '\\$&');
    return `| ${status} | [\`${code}\`](../errors#${code}) | ${text} |`;
  });
  return ['| Status | Code | Example message |', '| --- | --- | --- |', ...rows].join('\n');
}

/** The words for a field that is always there, and for one that may be absent. */
type Presence = readonly [always: string, sometimes: string];
const inRequest: Presence = [' **required**', ''];
const inAnswer: Presence = ['', ' **may be absent**'];

/** Writes the fields of an object, of array items or of each variant as a list. Empty without fields. */
function writeFields(schema: Schema, presence: Presence, indent = ''): string {
  const { items, anyOf = [], properties = {}, required = [] } = schema;
  if (items !== undefined) return writeFields(items, presence, indent);
  const deeper = `${indent}  `;
  const fields = Object.entries(properties).map(([name, field]) => {
    const word = presence[required.includes(name) ? 0 : 1];
    const mark = field['x-stability'] === 'beta' ? ' *beta*' : '';
    const rules = writeRules(field);
    const lines = [
      `\`${name}\` *${nameType(field)}*${word}${mark}`,
      field.description,
      rules && `*${rules.charAt(0).toUpperCase()}${rules.slice(1)}.*`,
    ];
    const item = `${indent}- ${lines.filter(Boolean).join(`  \n${deeper}`)}`;
    return [item, writeFields(field, presence, deeper)];
  });
  const variants = anyOf.filter((variant) => variant.properties !== undefined);
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

/** Writes the rules of a value as short phrases. The full range of an int64 is not among them, but in its type. */
function writeRules(schema: Schema): string {
  const { items, anyOf = [], const: only, format, minimum, maximum, default: usual } = schema;
  const { minLength = 0, maxLength, minItems = 0, maxItems } = schema;
  const enumeration = [schema, items, ...anyOf].find((one) => one?.enum !== undefined);
  const hasLength = maxLength !== undefined && format !== 'date-time';
  const rules = [
    only !== undefined && `always \`${only}\``,
    enumeration && listChoices(enumeration),
    format === 'date-time' && 'RFC 3339 in UTC, with milliseconds',
    format === 'uri' && 'a URL',
    minimum !== undefined && maximum !== undefined && `${writeNumber(minimum)} to ${writeNumber(maximum)}`,
    hasLength && `${nameCount(minLength, maxLength)} characters`,
    namePattern(schema),
    items && maxItems !== undefined && `${nameCount(minItems, maxItems)} items`,
    usual !== undefined && `default \`${usual}\``,
  ];
  return rules.filter(Boolean).join('; ');
}

/** Lists the values of an enumeration. A later release may add values to an open one. */
function listChoices({ enum: choices = [], isOpen }: Schema): string {
  const values = choices.filter((choice) => choice !== null);
  const list = values.map((choice) => `\`${choice}\``).join(', ');
  return isOpen ? `known values: ${list}` : `one of ${list}`;
}

function nameCount(least: number, most: number): string {
  if (least === most) return writeNumber(most);
  return least === 0 ? `up to ${writeNumber(most)}` : `${writeNumber(least)} to ${writeNumber(most)}`;
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

function writeNumber(value: number): string {
  return value.toLocaleString('en');
}

import { listAnswers } from '../../openapi/answers.ts';
import { listParameters, type Parameter, type Place, type Schema } from '../../openapi/parameters.ts';
import type { Operation } from '../../operation.ts';
import { formatJson } from '../code.ts';
import { writeSamples } from '../files/samples.js';
import { listRules, nameType } from './field-words.ts';
import { chooseRequest } from './samples.ts';

const places: Readonly<Record<Place, string>> = {
  path: 'Path parameters',
  query: 'Query parameters',
  header: 'Headers',
};

/** Writes the page of an operation as Markdown. */
export function writeOperation(operation: Operation, baseUrl: string): string {
  const { method, path, summary, description, scope, stability, body } = operation;
  const scopes = scope === null ? 'Any API key may call it.' : `Scope: ${[scope].flat().join(' or ')}.`;
  const parameters = listParameters(operation);
  const samples = writeSamples(chooseRequest(operation, baseUrl)).map(
    ({ language, code }) => `\`\`\`${language.toLowerCase()}\n${code}\n\`\`\``,
  );
  return `${[
    `# ${summary}`,
    `\`${method} ${path}\`${stability === 'beta' ? ' (beta)' : ''}`,
    description,
    scopes,
    ...Object.entries(places).flatMap(([place, title]) =>
      writeList(
        title,
        parameters.filter((parameter) => parameter.place === place),
      ),
    ),
    ...(body === undefined ? [] : ['## Body', writeFields(body, '', 'body')]),
    ...writeAnswers(operation),
    '## Examples',
    ...samples,
  ].join('\n\n')}\n`;
}

function writeList(title: string, parameters: readonly Parameter[]): string[] {
  if (parameters.length === 0) return [];
  const lines = parameters.map(({ place, name, schema }) =>
    writeField(name, schema, place === 'path' && 'required', ''),
  );
  return [`## ${title}`, lines.join('\n')];
}

function writeField(
  name: string,
  schema: Schema,
  presence: string | false,
  indent: string,
  place: 'body' | 'answer' = 'body',
): string {
  const rules = listRules(schema);
  const about = [schema.description ?? '', rules.length === 0 ? '' : `(${rules.join('; ')})`].filter(Boolean);
  const line = `${indent}- \`${name}\` (${nameType(schema)}${presence === false ? '' : `, ${presence}`}): ${about.join(' ')}`;
  const nested = writeFields(schema, `${indent}  `, place);
  return nested === '' ? line : `${line}\n${nested}`;
}

/** Writes the fields of an object, of the items of an array, or of each variant. */
function writeFields(
  { items, anyOf, properties = {}, required = [] }: Schema,
  indent: string,
  place: 'body' | 'answer',
): string {
  if (items !== undefined) return writeFields(items, indent, place);
  if (anyOf !== undefined)
    return anyOf
      .map((variant) => writeFields(variant, indent, place))
      .filter(Boolean)
      .join(`\n${indent}- or:\n`);
  return Object.entries(properties)
    .map(([name, schema]) => {
      const isRequired = required.includes(name);
      const presence = place === 'body' ? isRequired && 'required' : !isRequired && 'may be absent';
      return writeField(name, schema, presence, indent, place);
    })
    .join('\n');
}

function writeAnswers(operation: Operation): string[] {
  return listAnswers(operation).flatMap(({ status, description, body, examples = {} }) => {
    const values = Object.values(examples).map(({ value }) => value);
    if (status >= 400) {
      const errors = values as readonly { readonly code: string; readonly message: string }[];
      return [
        `## ${status}: ${description}`,
        errors.map(({ code, message }) => `- \`${code}\`: ${message}`).join('\n'),
      ];
    }
    return [
      `## ${status}: ${description}`,
      ...(body === undefined ? [] : [writeFields(body, '', 'answer')]),
      ...values.slice(0, 1).map((value) => `\`\`\`json\n${formatJson(value)}\n\`\`\``),
    ];
  });
}

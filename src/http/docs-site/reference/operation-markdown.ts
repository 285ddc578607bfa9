import { commonCodes, type DescribedAnswer, listAnswers } from '../../openapi/answers.ts';
import { responseHeaders } from '../../openapi/headers.ts';
import { listParameters, type Place } from '../../openapi/parameters.ts';
import type { Operation } from '../../operation.ts';
import { jsonTypes } from '../../request/body.ts';
import { formatJson } from '../code.ts';
import { writeSamples } from '../files/samples.js';
import { inAnswer, inRequest, writeFields } from './fields.ts';
import { chooseRequest } from './samples.ts';

/** The headings of the parameters. */
export const placeTitles: Readonly<Record<Place, string>> = {
  path: 'Path parameters',
  query: 'Query parameters',
  header: 'Headers',
};

/** Writes the page of an operation as Markdown. */
export function writeOperation(operation: Operation, baseUrl: string): string {
  const { method, path, summary } = operation;
  const samples = writeSamples(chooseRequest(operation, baseUrl));
  const examples = listAnswers(operation)
    .filter(({ status }) => status < 400)
    .flatMap((answer) => Object.values(answer.examples ?? {}));
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

/** Writes the marks of an operation: beta and deprecated. */
export function writeMarks({ stability, deprecation }: Operation): string {
  const removedOn = deprecation && new Date(deprecation.removedAtMs).toISOString().slice(0, 10);
  return `${stability === 'beta' ? ' *beta*' : ''}${removedOn ? ` *deprecated, removed on ${removedOn}*` : ''}`;
}

/** Writes what an operation does, and the scope that it needs. */
export function writeIntroduction({ description, scope }: Operation): string {
  if (scope === null) return `${description}\n\nAny API key may call this operation.`;
  const names = [scope].flat().map((one) => `[\`${one}\`](../authentication#scopes)`);
  return `${description}\n\nNeeds a key with the scope ${names.join(' or ')}.`;
}

/** Writes the parameters, the body, the answers and the errors of an operation. */
export function writeProse(operation: Operation): string {
  const { body, bodyTypes = jsonTypes.plain } = operation;
  const answers = listAnswers(operation);
  const byPlace = Map.groupBy(listParameters(operation), ({ place }) => place);
  const parameters = Array.from(byPlace, ([place, own]) => {
    const names = own.map(({ name }) => name);
    const properties = Object.fromEntries(own.map(({ name, schema }) => [name, schema]));
    const fields = writeFields({ properties, required: place === 'path' ? names : [] }, inRequest);
    return [`## ${placeTitles[place]}`, fields];
  });
  const types = bodyTypes.map((type) => `\`${type}\``).join(' or ');
  return [
    ...parameters.flat(),
    ...(body === undefined ? [] : ['## Body', types, writeFields(body, inRequest)]),
    '## Answers',
    ...answers.filter(({ status }) => status < 400).flatMap(writeAnswer),
    'Every answer has [these headers](./headers) too.',
    '## Errors',
    ...writeErrors(answers),
  ].join('\n\n');
}

function writeAnswer({ status, description, body, headers }: DescribedAnswer): string[] {
  const listed = headers.map(
    (name) => `  - \`${name.replace(/^.+Link$/, 'Link')}\`: ${responseHeaders[name].description}`,
  );
  return [
    `### \`${status}\` ${description}`,
    body !== undefined && 'items' in body ? 'An array. Each item has these fields:' : '',
    body === undefined ? '' : writeFields(body, inAnswer),
    listed.length === 0 ? '' : ['- Headers of this answer', ...listed].join('\n'),
  ].filter(Boolean);
}

interface Failure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

function writeErrors(answers: readonly DescribedAnswer[]): string[] {
  const all = answers
    .filter(({ status }) => status >= 400)
    .flatMap(({ examples = {} }) => Object.values(examples).map(({ value }) => value as Failure));
  const { own = [], common = [] } = Object.groupBy(all, ({ code }) =>
    commonCodes.has(code) ? 'common' : 'own',
  );
  if (own.length === 0) return ['Errors of every operation:', writeCodes(common, '\n')];
  return [writeCodes(own, '\n'), `- Errors of every operation\n\n  ${writeCodes(common, '\n  ')}`];
}

function writeCodes(failures: readonly Failure[], lineEnd: string): string {
  const rows = failures.map(({ status, code, message }) => {
    const text = message.replaceAll(/[*<|]/g, '\\$&');
    return `| ${status} | [\`${code}\`](../errors#${code}) | ${text} |`;
  });
  return ['| Status | Code | Example message |', '| --- | --- | --- |', ...rows].join(lineEnd);
}

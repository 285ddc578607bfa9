import { tags } from '../../api/operations.ts';
import { introduction } from '../../openapi/description.ts';
import { responseHeaders, universalHeaders } from '../../openapi/headers.ts';
import type { Operation } from '../../operation.ts';
import { writeMarks } from './operation-markdown.ts';
import { nameAddress } from './operation-page.ts';

/** Writes the first page as Markdown. */
export function writeOverview(operations: readonly Operation[], baseUrl: string): string {
  const groups = tags.map(({ name, description }) => {
    const own = operations.filter(({ tag }) => tag === name).map(writeEntry);
    return `## ${name.charAt(0).toUpperCase()}${name.slice(1)}\n\n${description}\n\n${own.join('\n')}`;
  });
  return `# Animal Store

${introduction}

- [Quickstart](getting-started) Get a key and add your first animal.
- [Authentication](authentication) API keys and their scopes.
- [TypeScript client](client) Handles pages, retries and exact integers.
- [Errors](errors) The cause of each error code and how to fix it.

## Base address

\`\`\`address
${baseUrl}
\`\`\`

[openapi.json](../openapi.json) describes the interface in OpenAPI 3.1, for code generators and other tools.

${groups.join('\n\n')}
`;
}

function writeEntry(operation: Operation): string {
  const { method, path, summary } = operation;
  const address = `reference/${nameAddress(operation)}`;
  return `- [\`${method}\` ${summary}](${address}) \`${path}\`${writeMarks(operation)}`;
}

type Header = (typeof responseHeaders)[keyof typeof responseHeaders];

/** Writes the page of all response headers as Markdown. */
export function writeHeaders(): string {
  const byName = Map.groupBy(Object.entries(responseHeaders), ([name]) => name.replace(/^.+Link$/, 'Link'));
  const all = [...byName].map(([name, entries]) => ({ name, headers: entries.map(([, header]) => header) }));
  const isCommon = ({ name }: { name: string }) => name in universalHeaders;
  return `# Headers

## On every answer

Error answers have these headers too. [Limits](../limits#headers) explains the headers of the rate limits.

${all.filter(isCommon).map(writeHeader).join('\n\n')}

## On some answers

The page of each operation lists the headers of its answers.

${all
  .filter((header) => !isCommon(header))
  .map(writeHeader)
  .join('\n\n')}
`;
}

function writeHeader({ name, headers }: { name: string; headers: readonly Header[] }): string {
  const [first] = headers;
  const texts = headers.map(({ description }) => description);
  const presence = first !== undefined && !('required' in first) ? ' It may be absent.' : '';
  return `### ${name}\n\n${texts.join('\n\n')}${presence} Example: \`${first?.example}\``;
}

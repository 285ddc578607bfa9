import { type EventType, eventTypes } from '../../../events/event.ts';
import { eventExamples } from '../../api/events.ts';
import { tags } from '../../api/operations.ts';
import { pingMessageExample } from '../../api/webhook-messages.ts';
import { introduction } from '../../openapi/description.ts';
import { type Header, responseHeaders, universalHeaders } from '../../openapi/headers.ts';
import { nameOperation, type Operation } from '../../operation.ts';
import { formatJson } from '../code.ts';
import { findRoot, type Page } from '../frame.ts';
import { renderDocument } from '../markdown.ts';
import { html } from '../markup.ts';
import { writeMarks, writeOperation } from './operation-markdown.ts';
import { renderOperation } from './operation-page.ts';

const capitalise = (tag: string) => tag.charAt(0).toUpperCase() + tag.slice(1);

/** Makes the first page, which lists the operations by tag. */
export function makeOverview(operations: readonly Operation[], baseUrl: string): Page {
  const groups = tags.map(({ name, description }) => {
    const own = operations.filter(({ tag }) => tag === name).map(writeEntry);
    return `## ${capitalise(name)}\n\n${description}\n\n${own.join('\n')}`;
  });
  const markdown = `# Animal Store

${introduction}

- [Quickstart](getting-started) Get a key and add your first animal.
- [Authentication](authentication) API keys and their scopes.
- [TypeScript client](client) Handles pages, retries and exact integers.
- [Python client](python-client) The same for Python 3.11 and later.
- [Errors](errors) The cause of each error code and how to fix it.

## Base address

\`\`\`address
${baseUrl}
\`\`\`

[openapi.json](../openapi.json) describes the interface in OpenAPI 3.1, for code generators and other tools.

${groups.join('\n\n')}
`;
  // The first page is at `/docs`, beside the folder of the others.
  const article = renderDocument(markdown.replaceAll('](', '](./docs/').replaceAll('./docs/../', './'));
  const content = html`<article class="overview">${article}</article>`;
  return { path: '', title: 'Overview', group: 'Start', content, markdown };
}

function writeEntry(operation: Operation): string {
  const { method, path, summary } = operation;
  const address = `reference/${nameOperation(operation)}`;
  return `- [\`${method}\` ${summary}](${address}) \`${path}\`${writeMarks(operation)}`;
}

/** Makes the pages of the operations by tag, then those of the event types and the headers. */
export function listReference(
  operations: readonly Operation[],
  baseUrl: string,
  publicUrl: string | null,
): Page[] {
  const callUrl = publicUrl ?? `${findRoot('/docs/reference/any')}/v1`;
  const byTag = tags.flatMap(({ name }) => operations.filter(({ tag }) => tag === name));
  return [
    ...byTag.map((operation) => ({
      path: `reference/${nameOperation(operation)}`,
      title: operation.summary,
      group: capitalise(operation.tag),
      searchWords: `${operation.id} ${operation.method} ${operation.path}`,
      method: operation.method,
      isDeprecated: operation.deprecation !== undefined,
      content: renderOperation(operation, baseUrl, callUrl),
      markdown: writeOperation(operation, baseUrl),
    })),
    makeTextPage('event-types', 'Event types', writeEventTypes()),
    makeTextPage('headers', 'Headers', writeHeaders()),
  ];
}

function makeTextPage(name: string, title: string, markdown: string): Page {
  const content = html`<article class="text">${renderDocument(markdown)}</article>`;
  return { path: `reference/${name}`, title, group: 'More', content, markdown };
}

function writeHeaders(): string {
  const all = Object.entries<Header>(responseHeaders);
  const byName = Map.groupBy(all, ([name]) => name.replace(/^.+Link$/, 'Link'));
  const write = (areCommon: boolean) =>
    Array.from(byName, ([name, entries]) => {
      if (name in universalHeaders !== areCommon) return [];
      const [, { required, example } = {}] = entries[0] ?? [];
      const texts = entries.map(([, { description }]) => description).join('\n\n');
      return `### ${name}\n\n${texts}${required ? '' : ' It may be absent.'} Example: \`${example}\``;
    })
      .flat()
      .join('\n\n');
  return `# Headers

## On every response

Error responses have these headers too. [Limits](../limits#headers) explains the headers of the rate limits.

${write(true)}

## On some responses

The page of each operation lists the headers of its responses.

${write(false)}
`;
}

const meanings: Readonly<Record<EventType, string>> = {
  'pet.added': 'An animal was added.',
  'pet.updated':
    'An animal was changed. `previous` has the former values of the changed fields. Orders change their animal too.',
  'pet.deleted': 'An animal was deleted. `data` is the animal before the deletion.',
  'category.updated':
    'A category was named or renamed. `previous` is absent if the category had no name before.',
  'category.deleted': 'The name of a category was deleted.',
  'order.reserved': 'An order was placed. Its animal is `pending`.',
  'order.completed': 'An order was completed. Its animal is `sold`.',
  'order.cancelled': 'An order was cancelled. Its animal is `available` again.',
  'order.expired': 'A hold ended at its `expiresAt`. Its animal is `available` again.',
  'order.returned': 'A sold animal came back. It is `pending`, without an order.',
};

function writeEventTypes(): string {
  const write = (type: string, meaning: string, example: unknown) =>
    `## ${type}\n\n${meaning}\n\n\`\`\`json\n${formatJson(example)}\n\`\`\``;
  const parts = eventTypes.map((type) => {
    const scope = type.startsWith('order.') ? '`orders:read`' : '`pets:read`';
    return write(type, `${meanings[type]} Needs the scope ${scope}.`, eventExamples[type]);
  });
  const ping = 'A test that `POST /webhooks/{webhookId}/ping` sends to one webhook. It is not in the feed.';
  return `# Event types

The [feed](../events) and [webhooks](../webhooks) contain these events. Later releases may add types and fields, so ignore what
your program does not know.

${[...parts, write('webhook.ping', ping, pingMessageExample)].join('\n\n')}
`;
}

import { html } from 'htm/preact';
import { useActs } from './acts.ts';
import type { AnswerOf } from './api.ts';
import { useDialog } from './dialog.ts';
import { formatDuration, formatTime } from './format.ts';
import { AccountLink, type Fact, Facts, PageHead, showOne } from './parts.ts';
import { useResource } from './resource.ts';
import { type Column, Table } from './table.ts';
import { askIn, SendDialog, type WebhookData } from './webhook-dialogs.ts';
import { Acts, Behind, Result, Status } from './webhooks.ts';

type Attempt = AnswerOf<'GET /webhooks/{webhookId}'>['attempts'][number];

const columns: readonly Column<Attempt>[] = [
  { title: 'When', isTime: true, by: 'at', cell: ({ at }) => formatTime(at) },
  { title: 'Result', by: 'result', cell: ({ result }) => html`<${Result} result=${result} />` },
  { title: 'Event', by: 'eventId', cell: ({ eventId }) => html`<code class="text">${eventId}</code>` },
  {
    title: 'Took',
    by: 'durationMs',
    isNumber: true,
    isMinor: true,
    cell: ({ durationMs }) => formatDuration(durationMs),
  },
];

/** The page of one webhook, with its last attempts. */
export function Webhook({ id }: { readonly id: string }) {
  const found = useResource('GET /webhooks/{webhookId}', { webhookId: id });
  const dialog = useDialog();
  const act = useActs();
  return html`
    ${showOne('webhook', id, found, ({ webhook, attempts, oldest }) => {
      const ask = askIn(dialog, oldest, found.reload);
      return html`
        <${PageHead} title=${nameWebhook(webhook)}>
          ${act('POST /webhooks/{webhookId}/send', { label: 'Send an event', onClick: ask(SendDialog, webhook) })}
          <${Acts} webhook=${webhook} ask=${ask} />
        <//>
        <${Facts} facts=${listFacts(webhook)} />
        <section aria-labelledby="attempts">
          <h2 id="attempts">The last attempts</h2>
          <${Table} caption="Attempts" columns=${columns} rows=${attempts} empty="No attempt in the last 7 days." />
        </section>
      `;
    })}
    ${dialog.shown}
  `;
}

function nameWebhook({ account, url }: WebhookData): string {
  return `Webhook of ${account} to ${URL.parse(url)?.host ?? url}`;
}

function listFacts(webhook: WebhookData): readonly Fact[] {
  return [
    ['Id', html`<code>${webhook.id}</code>`],
    ['URL', html`<span class="text">${webhook.url}</span>`],
    ['Account', html`<${AccountLink} ...${webhook} />`],
    ['Status', html`<${Status} ...${webhook} />`],
    ['Behind', html`<${Behind} ...${webhook} />`],
    ['Types', webhook.types.join(', ')],
    ['Created with the key', html`<code>${webhook.keyId}</code>`],
  ];
}

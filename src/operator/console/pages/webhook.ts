import { html } from 'htm/preact';
import type { AnswerOf } from './api.ts';
import { useDialog } from './dialog.ts';
import { formatDuration, formatTime } from './format.ts';
import { AccountLink, type Fact, Facts, PageHead, showLoaded } from './parts.ts';
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
  return html`
    ${showLoaded(found, ({ webhook, attempts, oldest }) => {
      const ask = askIn(dialog, oldest, found.reload);
      return html`
        <${PageHead} title=${webhook.id}>
          <button type="button" onClick=${ask(SendDialog, webhook)}>Send an event</button>
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

function listFacts(webhook: WebhookData): readonly Fact[] {
  return [
    ['URL', html`<span class="text">${webhook.url}</span>`],
    ['Account', html`<${AccountLink} ...${webhook} />`],
    ['Status', html`<${Status} ...${webhook} />`],
    ['Behind', html`<${Behind} ...${webhook} />`],
    ['Types', webhook.types.join(', ')],
    ['Created with the key', html`<code>${webhook.keyId}</code>`],
  ];
}

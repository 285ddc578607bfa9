import { html } from 'htm/preact';
import { useActs } from './acts.ts';
import type { AnswerOf } from './api.ts';
import { useDialog } from './dialog.ts';
import { countThings, formatDuration, formatTime } from './format.ts';
import { AccountLink, type Fact, Facts, KeyLink, PageHead, showOne } from './parts.ts';
import { useResource } from './resource.ts';
import { linkTo } from './routing.ts';
import { type Column, Table } from './table.ts';
import { askIn, SendDialog, type WebhookData } from './webhook-dialogs.ts';
import { Acts, Behind, Result, Status } from './webhooks.ts';

type Shown = AnswerOf<'GET /webhooks/{webhookId}'>;
type Attempt = Shown['attempts'][number];

const columns: readonly Column<Attempt>[] = [
  { title: 'When', isTime: true, by: 'at', cell: ({ at }) => formatTime(at) },
  { title: 'Result', by: 'result', cell: ({ result }) => html`<${Result} result=${result} />` },
  {
    title: 'Attempt',
    by: 'attempt',
    cell: ({ attempt, isManual }) =>
      html`${attempt ?? '–'}${isManual && html`${' '}<span class="quiet">by hand</span>`}`,
  },
  { title: 'Event', by: 'eventId', cell: ({ eventId }) => html`<code class="text">${eventId}</code>` },
  {
    title: 'Took',
    by: 'durationMs',
    isNumber: true,
    cell: ({ durationMs }) => formatDuration(durationMs),
  },
  { title: 'Answer', isWide: true, cell: ({ answerStart }) => html`<${Answer} start=${answerStart} />` },
];

/** Number of characters of an answer that the list shows. The rest unfolds. */
const shortAnswer = 60;

/** The start of the answer of a receiver, as text. */
function Answer({ start }: { readonly start: string | null }) {
  if (start === null) return '–';
  if (start === '') return html`<span class="quiet">empty</span>`;
  const characters = [...start];
  if (characters.length <= shortAnswer) return html`<span class="text">${start}</span>`;
  return html`<details>
    <summary>${characters.slice(0, shortAnswer).join('')}…</summary>
    <p class="text">${start}</p>
  </details>`;
}

/** The page of one webhook, with its last attempts. */
export function Webhook({ id }: { readonly id: string }) {
  const found = useResource('GET /webhooks/{webhookId}', { webhookId: id });
  const dialog = useDialog();
  const act = useActs();
  return html`
    ${showOne('webhook', id, found, (data) => {
      const { webhook, attempts, oldest } = data;
      const ask = askIn(dialog, oldest, found.reload);
      return html`
        <${PageHead} title=${nameWebhook(webhook)}>
          ${act('POST /webhooks/{webhookId}/send', { label: 'Send an event', onClick: ask(SendDialog, webhook) })}
          <${Acts} webhook=${webhook} ask=${ask} />
        <//>
        <${Facts} facts=${listFacts(data)} />
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

function listFacts({ webhook, attempts, left }: Shown): readonly Fact[] {
  const endMs = findEnd(webhook, attempts);
  const { nextAttemptAtMs } = webhook;
  return [
    ['Id', html`<code>${webhook.id}</code>`],
    ['Account', html`<${AccountLink} ...${webhook} />`],
    ['Status', html`<${Status} ...${webhook} />`],
    ...(endMs === null ? [] : [['Disabled since', formatTime(endMs)] as const]),
    ['Changes', html`<a href=${linkTo(['audit'], { subject: webhook.id })}>Audit log</a>`],
    ['Behind', html`<${Behind} ...${webhook} />`],
    ...(left === null ? [] : [['Can still get', describeLeft(left)] as const]),
    ...(nextAttemptAtMs === null ? [] : [['Next attempt', formatTime(nextAttemptAtMs)] as const]),
    ['Created with the key', html`<${KeyLink} id=${webhook.keyId} account=${webhook.account} />`],
    ['URL', html`<span class="text">${webhook.url}</span>`, true],
    ['Types', webhook.types.join(', '), true],
  ];
}

/**
 * Returns when an attempt has disabled the webhook, or null if no kept attempt has. The audit log has when an operator or its
 * account did. The newest attempt comes first.
 */
function findEnd(
  { disabledBecause: because }: WebhookData,
  attempts: readonly Attempt[],
): Attempt['at'] | null {
  const last =
    because === 'gone'
      ? attempts.find(({ result }) => String(result) === '410')
      : attempts.find(({ isManual }) => because === 'failing' && !isManual);
  return last?.at ?? null;
}

function describeLeft({ events, hasMore, isPositionLost }: NonNullable<Shown['left']>) {
  const count = `${hasMore ? 'more than ' : ''}${countThings(events, 'event')}`;
  if (!isPositionLost) return count;
  return html`${count}, but its position is lost: later events are deleted. Replay it before you enable it.`;
}

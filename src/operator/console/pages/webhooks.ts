import { html } from 'htm/preact';
import { type ComponentChildren, type FunctionComponent, h } from 'preact';
import type { DisabledReason } from '../../../webhooks/webhook.ts';
import { useActs } from './acts.ts';
import type { Address, QueryOf } from './api.ts';
import { useDialog } from './dialog.ts';
import { Choice, Filters, TextFilter } from './fields.ts';
import { countThings, formatSpan, formatTime } from './format.ts';
import { AccountLink, Badge, PageHead, Pager, State, showLoaded } from './parts.ts';
import { useResource } from './resource.ts';
import { linkTo } from './routing.ts';
import { useDeclared } from './session.ts';
import { type Column, describeEmpty, Table } from './table.ts';
import {
  type Ask,
  askIn,
  canBeDisabled,
  DisableDialog,
  EnableDialog,
  ReplayDialog,
  ResumeDialog,
  type WebhookData,
  type WebhookDialogProps,
} from './webhook-dialogs.ts';

const parts = ['webhooks'];

const reasons: Readonly<Record<DisabledReason, string>> = {
  owner: 'by its account',
  operator: 'by an operator',
  gone: 'because it answered 410',
  failing: 'because it failed for days',
  restored: 'because the store was restored',
};

export function Webhooks({ query }: { readonly query: QueryOf<'GET /webhooks'> }) {
  const webhooks = useResource('GET /webhooks', query);
  const { webhookFilters } = useDeclared();
  const show = useActs();
  const dialog = useDialog();
  const onHold = webhooks.data?.onHold ?? 0;
  const resume = () => dialog.open((own) => h(ResumeDialog, { ...own, onHold, onDone: webhooks.reload }));
  const none = 'No account has a webhook yet. An account creates its webhooks itself, with POST /webhooks.';
  const empty = describeEmpty(parts, query, 'webhooks', none);
  return html`
    <${PageHead} title="Webhooks">
      ${onHold > 0 && show('POST /webhooks/resume', { label: 'Resume all on hold', onClick: resume })}
    <//>
    <${Filters} parts=${parts} query=${query} label="Filter webhooks">
      <${TextFilter} name="account" label="Account" query=${query} />
      <${Choice} id="status" label="Status" name="status" value=${query.status} choices=${webhookFilters} all="all" />
    <//>
    ${showLoaded(
      webhooks,
      ({ items, next, oldest }) => html`
        <${WebhookTable} webhooks=${items} oldest=${oldest} onChange=${webhooks.reload} empty=${empty} hasAccounts />
        <${Pager} parts=${parts} query=${query} next=${next} />
      `,
    )}
    ${dialog.shown}
  `;
}

interface WebhookTableProps {
  readonly webhooks: readonly WebhookData[];
  /** The oldest event from which a replay can start. */
  readonly oldest: string;
  readonly onChange: () => void;
  readonly empty: ComponentChildren;
  /** True if the table also shows the account of each webhook. */
  readonly hasAccounts?: boolean;
}

/** A table of webhooks, with the actions for each. */
export function WebhookTable({ webhooks, oldest, onChange, empty, hasAccounts = false }: WebhookTableProps) {
  const dialog = useDialog();
  const ask = askIn(dialog, oldest, onChange);
  const account: Column<WebhookData> = {
    title: 'Account',
    cell: (webhook) => html`<${AccountLink} ...${webhook} />`,
  };
  const columns: readonly Column<WebhookData>[] = [
    {
      title: 'Webhook',
      isWide: true,
      cell: ({ id, url }) =>
        html`<span class="text">${url}</span><br /><a href=${linkTo([...parts, id])}><code>${id}</code></a>`,
    },
    ...(hasAccounts ? [account] : []),
    { title: 'Status', by: 'status', cell: (webhook) => html`<${Status} ...${webhook} />` },
    { title: 'Behind', by: 'eventsBehind', cell: (webhook) => html`<${Behind} ...${webhook} />` },
    { title: 'Last attempt', by: 'lastAttemptAtMs', cell: (webhook) => html`<${Attempt} ...${webhook} />` },
    {
      title: 'Actions',
      needs: Object.values(acts),
      cell: (webhook) => html`<${Acts} webhook=${webhook} ask=${ask} />`,
    },
  ];
  return html`
    <${Table} caption="Webhooks" columns=${columns} rows=${webhooks} empty=${empty} />
    ${dialog.shown}
  `;
}

export function Status({ status, disabledBecause, isPaused }: WebhookData) {
  return html`<${State} state=${status} />
    ${disabledBecause && html`${' '}<span class="quiet">${reasons[disabledBecause]}</span>`}
    ${isPaused && html`${' '}<${Badge} kind="warn">paused: account suspended<//>`}`;
}

export function Behind(webhook: WebhookData) {
  const { after } = webhook;
  return html`${describeDistance(webhook)}<br />
    <code class="quiet">${after === null ? 'before the first' : after}</code>`;
}

function describeDistance({ eventsBehind, behindMs }: WebhookData): string {
  if (eventsBehind === 0) return 'at the end';
  const count = countThings(eventsBehind, 'event');
  return behindMs === null ? count : `${count}, ${formatSpan(behindMs)}`;
}

function Attempt({ lastAttemptAtMs, lastResult }: WebhookData) {
  if (lastResult === null) return 'none yet';
  return html`<${Result} result=${lastResult} /><br />
    <span class="quiet">${formatTime(lastAttemptAtMs)}</span>`;
}

/** The HTTP status of the answer to an attempt, or why there was none. */
export function Result({ result }: { readonly result: string | number }) {
  const isGood = /^2\d\d$/.test(String(result));
  return html`<${Badge} kind=${isGood ? 'good' : 'bad'}>${result}<//>`;
}

interface ActsProps {
  readonly webhook: WebhookData;
  readonly ask: Ask;
}

const acts = {
  Disable: 'POST /webhooks/{webhookId}/disable',
  Enable: 'POST /webhooks/{webhookId}/enable',
  Replay: 'POST /webhooks/{webhookId}/replay',
} as const satisfies Readonly<Record<string, Address>>;

export function Acts({ webhook, ask }: ActsProps) {
  const show = useActs();
  const act = (label: keyof typeof acts, Dialog: FunctionComponent<WebhookDialogProps>) =>
    show(acts[label], { label, name: `${label} ${webhook.id}`, onClick: ask(Dialog, webhook) });
  return html`<div class="row-acts">
    ${canBeDisabled(webhook) && act('Disable', DisableDialog)}
    ${webhook.status === 'disabled' && act('Enable', EnableDialog)}
    ${act('Replay', ReplayDialog)}
  </div>`;
}

import { html } from 'htm/preact';
import { type FunctionComponent, h } from 'preact';
import type { AccountData } from './account-dialogs.ts';
import { useActs } from './acts.ts';
import type { Address } from './api.ts';
import { useDialog } from './dialog.ts';
import { formatTime, formatTimeLeft } from './format.ts';
import {
  CreateDialog,
  type Issued,
  IssuedDialog,
  type KeyData,
  type KeyDialogProps,
  LiftDialog,
  RevokeDialog,
  RotateDialog,
} from './key-dialogs.ts';
import { Badge, State } from './parts.ts';
import { type Now, useTime } from './resource.ts';
import { linkTo } from './routing.ts';
import { type Column, Table } from './table.ts';

interface AccountKeysProps {
  readonly account: AccountData;
  /** Returns the time of the service. */
  readonly now: Now;
  readonly onChange: () => void;
}

/** The keys of an account. A new key is shown before the page loads again, because it is shown only once. */
export function AccountKeys({ account, now, onChange }: AccountKeysProps) {
  const dialog = useDialog();
  const act = useActs();
  const props = { account, onDone: onChange, onIssued: show };
  const ask: Ask = (Dialog, item) => () => dialog.open((own) => h(Dialog, { ...own, ...props, item }));
  const create = () => dialog.open((own) => h(CreateDialog, { ...own, account, onDone: show }));
  function show(issued: Issued) {
    dialog.open((own) => h(IssuedDialog, { ...own, issued, onDone: onChange }));
  }
  const columns: readonly Column<KeyData>[] = [
    {
      title: 'Key',
      cell: (item) => html`<code>${item.start}…</code>${' '}<span class="text">${item.name ?? ''}</span><br />
        <code class="quiet">${item.id}</code>`,
    },
    { title: 'State', cell: (item) => html`<${KeyState} item=${item} now=${now} />` },
    { title: 'Scopes', cell: (item) => item.scopes.join(', ') },
    { title: 'Last used', cell: (item) => formatTime(item.lastUsedAt) },
    {
      title: 'Expires',
      cell: (item) => (item.expiresAt === null ? 'never' : formatTime(item.expiresAt)),
    },
    {
      title: 'Actions',
      needs: ['POST /keys/{keyId}/lift-ban', 'POST /keys/{keyId}/rotate', 'POST /keys/{keyId}/revoke'],
      cell: (item) => html`<${KeyActs} item=${item} now=${now} ask=${ask} />`,
    },
  ];
  return html`<section aria-labelledby="keys">
      <div class="page-head">
        <h2 id="keys">Keys</h2>
        ${act('POST /accounts/{account}/keys', { label: 'New key', kind: 'main', onClick: create })}
      </div>
      <${Table} caption="Keys" columns=${columns} rows=${account.keys} empty="This account has no key, so it cannot send a request. “New key” creates one." />
      ${account.nextKey !== null && showOlder(account, account.nextKey)}
      <p class="hint">Revoked keys are not listed here. They are in the audit log.</p>
    </section>
    ${dialog.shown}`;
}

function showOlder({ account, keys }: AccountData, keysFrom: string) {
  return html`<nav class="pager" aria-label="Pages of keys">
    <span>There are more keys than the ${keys.length} on this page.</span>
    <a href=${linkTo(['accounts', account], { keysFrom })}>Older keys</a>
  </nav>`;
}

/** Opens a dialog for a key. */
type Ask = (Dialog: FunctionComponent<KeyDialogProps>, item: KeyData) => () => void;

/** Returns when the ban of a key ends, or null if the key is not banned at `nowMs`. */
function findBanEnd({ bannedUntilMs }: KeyData, nowMs: number): number | null {
  return bannedUntilMs !== null && bannedUntilMs > nowMs ? bannedUntilMs : null;
}

interface KeyStateProps {
  readonly item: KeyData;
  readonly now: Now;
}

function KeyState({ item, now }: KeyStateProps) {
  const nowMs = useTime(now);
  const endMs = findBanEnd(item, nowMs);
  if (endMs === null) return html`<${State} state=${item.state} />`;
  return html`<${Badge} kind="bad">banned for ${formatTimeLeft(endMs, nowMs)} more<//>`;
}

interface KeyActsProps extends KeyStateProps {
  readonly ask: Ask;
}

function KeyActs({ item, now, ask }: KeyActsProps) {
  const nowMs = useTime(now);
  const show = useActs();
  const act = (address: Address, label: string, Dialog: FunctionComponent<KeyDialogProps>) =>
    show(address, { label, name: `${label} ${item.start}`, onClick: ask(Dialog, item) });
  return html`<div class="row-acts">
    ${findBanEnd(item, nowMs) !== null && act('POST /keys/{keyId}/lift-ban', 'Lift the ban', LiftDialog)}
    ${item.state === 'active' && act('POST /keys/{keyId}/rotate', 'Rotate', RotateDialog)}
    ${item.state !== 'expired' && act('POST /keys/{keyId}/revoke', 'Revoke', RevokeDialog)}
  </div>`;
}

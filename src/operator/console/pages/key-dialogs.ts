import { html } from 'htm/preact';
import type { Scope } from '../../../accounts/account.ts';
import type { AccountData } from './account-dialogs.ts';
import { type AnswerOf, callApi } from './api.ts';
import { ActDialog, type Closing } from './dialog.ts';
import { Field, type Form } from './fields.ts';
import { formatTime } from './format.ts';
import { State } from './parts.ts';
import { toNumber } from './plan-fields.ts';
import { SecretDialog } from './secret-dialog.ts';
import { useDeclared } from './session.ts';
import { canBeDisabled } from './webhook-dialogs.ts';

/** What each scope gives to a key. */
const scopeTexts: Readonly<Record<Scope, string>> = {
  'pets:read': 'list and get animals',
  'pets:write': 'add animals',
  'pets:manage': 'change and delete animals, name categories',
  'orders:read': "the account's own orders",
  'orders:write': "place, complete and cancel the account's orders",
  'orders:manage': 'the orders of every account',
  'webhooks:manage': "the account's webhooks",
  'keys:manage': "the account's keys",
};

export type KeyData = AccountData['keys'][number];
export type Issued = AnswerOf<'POST /accounts/{account}/keys'> &
  Partial<AnswerOf<'POST /keys/{keyId}/rotate'>>;

export interface KeyDialogProps extends Closing {
  readonly account: AccountData;
  readonly item: KeyData;
  readonly onIssued: (issued: Issued) => void;
  readonly onDone: () => void;
}

interface CreateDialogProps extends Closing {
  readonly account: AccountData;
  readonly onDone: (issued: Issued) => void;
}

export function CreateDialog({ account: { account }, ...own }: CreateDialogProps) {
  const { scopes, partnerScopes } = useDeclared();
  function act({ name, days, ...checked }: Form) {
    const seconds = days === undefined ? undefined : toSeconds(days, 86_400);
    const chosen = scopes.filter((scope) => checked[scope] !== undefined);
    return callApi(
      'POST /accounts/{account}/keys',
      { account },
      { name, scopes: chosen, expiresInSeconds: seconds },
    );
  }
  const check = (scope: (typeof scopes)[number]) =>
    html`<label class="check">
      <input type="checkbox" name=${scope} defaultChecked=${partnerScopes.includes(scope)} />
      ${' '}<code>${scope}</code> ${scopeTexts[scope]}
    </label>`;
  return html`<${ActDialog} title=${`New key of ${account}`} label="Create the key" act=${act} ...${own}>
    <${Field} id="key-name" label="Name (a label for people)">
      <input id="key-name" name="name" maxlength="510" />
    <//>
    <fieldset>
      <legend>Scopes</legend>
      ${scopes.map(check)}
    </fieldset>
    <${Field} id="key-days" label="Days until the key expires (empty: never)">
      <input id="key-days" name="days" inputmode="numeric" />
    <//>
  <//>`;
}

/** Returns a text that is not a number unchanged, so that the API refuses it with an error message. */
function toSeconds(text: string, unitSeconds: number): number | string {
  const given = toNumber(text);
  return typeof given === 'number' ? given * unitSeconds : given;
}

interface IssuedDialogProps extends Closing {
  readonly issued: Issued;
  readonly onDone: () => void;
}

export function IssuedDialog({ issued: { key, oldEndsAtMs }, ...own }: IssuedDialogProps) {
  return html`<${SecretDialog} title="The new key" noun="key" secret=${key} ...${own}>
    ${oldEndsAtMs !== undefined && html`<p>The old key expires at ${formatTime(oldEndsAtMs)}.</p>`}
  <//>`;
}

export function RotateDialog({ item: { id, start }, onIssued, onClose }: KeyDialogProps) {
  const act = ({ hours = '' }: Form) =>
    callApi('POST /keys/{keyId}/rotate', { keyId: id }, { overlapSeconds: toSeconds(hours, 3_600) });
  return html`<${ActDialog}
    title=${`Rotate ${start}…`}
    label="Create the new key"
    act=${act}
    onClose=${onClose}
    onDone=${onIssued}
  >
    <p>The new key has the same scopes as the old key.</p>
    <${Field} id="overlap" label="Hours until the old key expires (0: immediately)">
      <input id="overlap" name="hours" inputmode="numeric" value="24" required />
    <//>
  <//>`;
}

export function RevokeDialog({ account, item: { id, start, name }, onDone, onClose }: KeyDialogProps) {
  const webhooks = account.webhooks.filter(({ keyId }) => keyId === id);
  async function act(form: Form) {
    const disableWebhooks = form['disableWebhooks'] !== undefined;
    await callApi('POST /keys/{keyId}/revoke', { keyId: id }, { disableWebhooks });
    return disableWebhooks;
  }
  const describe = (areDisabled: boolean) =>
    `${start}… is revoked.${areDisabled ? ' The webhooks that it created are disabled.' : ''}`;
  return html`<${ActDialog}
    label=${`Revoke ${start}…`}
    isDangerous
    act=${act}
    notice=${describe}
    onClose=${onClose}
    onDone=${onDone}
  >
    <p>
      This is the key ${name !== null && html`<strong class="text">${name}</strong> `}<code>${id}</code>.
      Its requests are refused after at most 2 seconds. This cannot be undone.
    </p>
    ${webhooks.length > 0 && html`<${MadeWebhooks} webhooks=${webhooks} />`}
  <//>`;
}

function MadeWebhooks({ webhooks }: Pick<AccountData, 'webhooks'>) {
  return html`<p id="made-webhooks">
      The key created these webhooks. Revoking the key does not disable them:
    </p>
    <ul aria-labelledby="made-webhooks">
      ${webhooks.map(
        ({ id, url, status }) =>
          html`<li key=${id}><span class="text">${url}</span>${' '}<${State} state=${status} /></li>`,
      )}
    </ul>
    ${
      webhooks.some(canBeDisabled) &&
      html`<label class="check">
        <input type="checkbox" name="disableWebhooks" /> Also disable these webhooks
      </label>`
    }`;
}

interface LiftDialogProps extends Closing {
  readonly item: Pick<KeyData, 'id' | 'start'>;
  readonly onDone: () => void;
}

export function LiftDialog({ item: { id, start }, onDone, onClose }: LiftDialogProps) {
  return html`<${ActDialog}
    label=${`Lift the ban of ${start}…`}
    act=${() => callApi('POST /keys/{keyId}/lift-ban', { keyId: id })}
    notice=${`The ban of ${start}… is lifted.`}
    onClose=${onClose}
    onDone=${onDone}
  >
    <p>The key works again within 2 seconds, or 5 with several instances. The rate limits of its account still apply.</p>
  <//>`;
}

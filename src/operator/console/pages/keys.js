import { callApi } from './api.js';
import { ActDialog, useDialog } from './dialog.js';
import { formatTime, formatTimeLeft } from './format.js';
import { html } from './html.js';
import { Badge, Field, State, Table } from './parts.js';
import { toNumber } from './plan-fields.js';
import { useTime } from './resource.js';
import { linkTo } from './routing.js';
import { scopes } from './scopes.js';

export function AccountKeys({ account, now, onChange }) {
  const dialog = useDialog();
  const ask = (Dialog, props) => () =>
    dialog.open(html`<${Dialog} account=${account} ...${props} onIssued=${show} onDone=${onChange} />`);
  const show = (issued) => dialog.open(html`<${IssuedDialog} issued=${issued} onDone=${onChange} />`);
  const columns = [
    {
      title: 'Key',
      cell: (item) => html`<code>${item.start}…</code>${' '}<span class="text">${item.name ?? ''}</span>`,
    },
    { title: 'State', cell: (item) => html`<${KeyState} item=${item} now=${now} />` },
    { title: 'Scopes', isMinor: true, cell: (item) => item.scopes.join(', ') },
    { title: 'Last used', cell: (item) => formatTime(item.lastUsedAt) },
    {
      title: 'Expires',
      isMinor: true,
      cell: (item) => (item.expiresAt === null ? 'never' : formatTime(item.expiresAt)),
    },
    { title: 'Actions', cell: (item) => html`<${KeyActs} item=${item} now=${now} ask=${ask} />` },
  ];
  return html`<section aria-labelledby="keys">
    <div class="page-head">
      <h2 id="keys">Keys</h2>
      <button type="button" class="main" onClick=${ask(CreateDialog)}>New key</button>
    </div>
    <${Table} caption="Keys" columns=${columns} rows=${account.keys} empty="This account has no key." />
    ${
      account.nextKey !== null &&
      html`<nav class="pager" aria-label="Pages of keys">
      <span>There are more keys than the ${account.keys.length} on this page.</span>
      <a href=${linkTo(['accounts', account.account], { keysFrom: account.nextKey })}>Older keys</a>
    </nav>`
    }
    <p class="hint">Revoked keys are not listed here. They are in the audit log.</p>
  </section>
  ${dialog.shown}`;
}

function isBanned({ bannedUntilMs }, nowMs) {
  return bannedUntilMs > nowMs;
}

function KeyState({ item, now }) {
  const nowMs = useTime(now);
  if (!isBanned(item, nowMs)) return html`<${State} state=${item.state} />`;
  return html`<${Badge} kind="bad">banned for ${formatTimeLeft(item.bannedUntilMs, nowMs)} more<//>`;
}

function KeyActs({ item, now, ask }) {
  const nowMs = useTime(now);
  const act = (label, Dialog) =>
    html`<button type="button" aria-label=${`${label} ${item.start}`} onClick=${ask(Dialog, { item })}>${label}</button>`;
  return html`<div class="row-acts">
    ${isBanned(item, nowMs) && act('Lift the ban', LiftDialog)}
    ${item.state === 'active' && act('Rotate', RotateDialog)}
    ${item.state !== 'expired' && act('Revoke', RevokeDialog)}
  </div>`;
}

function CreateDialog({ account, onIssued, ...own }) {
  async function act({ name, days, ...fields }) {
    const chosen = scopes.filter((scope) => fields[scope.name] !== undefined).map((scope) => scope.name);
    const seconds = days === undefined ? undefined : toNumber(days);
    return await callApi('POST', `/accounts/${encodeURIComponent(account.account)}/keys`, {
      scopes: chosen,
      ...(name !== undefined && { name }),
      ...(seconds !== undefined && {
        expiresInSeconds: typeof seconds === 'number' ? seconds * 86_400 : seconds,
      }),
    });
  }
  return html`<${ActDialog} title=${`New key of ${account.account}`} label="Create the key" act=${act} ...${own} onDone=${onIssued}>
    <${Field} id="key-name" label="Name (a label for people)"><input id="key-name" name="name" maxlength="510" /><//>
    <fieldset>
      <legend>Scopes</legend>
      ${scopes.map(
        ({ name, gives, isPartners }) =>
          html`<label class="check">
            <input type="checkbox" name=${name} defaultChecked=${isPartners} /> <code>${name}</code> ${gives}
          </label>`,
      )}
    </fieldset>
    <${Field} id="key-days" label="Days until the key expires (empty: never)">
      <input id="key-days" name="days" inputmode="numeric" />
    <//>
  <//>`;
}

function IssuedDialog({ issued, ...own }) {
  async function copy(event) {
    const button = event.currentTarget;
    try {
      await navigator.clipboard.writeText(issued.key);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Select and copy it by hand';
    }
  }
  return html`<${ActDialog} title="The new key" label="I have copied the key" isFirm act=${async () => {}} ...${own}>
    <p>The key is shown only once. It is valid immediately.</p>
    <pre class="secret" tabindex="0" aria-label="The key"><code>${issued.key}</code></pre>
    <button type="button" onClick=${copy}>Copy</button>
    ${issued.oldEndsAtMs !== undefined && html`<p>The old key expires at ${formatTime(issued.oldEndsAtMs)}.</p>`}
  <//>`;
}

function RotateDialog({ item, onIssued, ...own }) {
  const act = ({ hours = '' }) => {
    const given = toNumber(hours);
    const overlapSeconds = typeof given === 'number' ? given * 3_600 : given;
    return callApi('POST', `/keys/${item.id}/rotate`, { overlapSeconds });
  };
  return html`<${ActDialog} title=${`Rotate ${item.start}…`} label="Create the new key" act=${act} ...${own} onDone=${onIssued}>
    <p>The new key has the same scopes as the old key.</p>
    <${Field} id="overlap" label="Hours until the old key expires (0: immediately)">
      <input id="overlap" name="hours" inputmode="numeric" value="24" required />
    <//>
  <//>`;
}

function RevokeDialog({ account, item, ...own }) {
  const webhooks = account.webhooks.filter(({ keyId }) => keyId === item.id);
  async function act(fields) {
    const disableWebhooks = fields.disableWebhooks !== undefined;
    await callApi('POST', `/keys/${item.id}/revoke`, { disableWebhooks });
    return disableWebhooks;
  }
  return html`<${ActDialog}
    label=${`Revoke ${item.start}…`}
    isDangerous
    act=${act}
    notice=${(areDisabled) => `${item.start}… is revoked.${areDisabled ? ' The webhooks that it created are disabled.' : ''}`}
    ...${own}
  >
    <p>
      This is the key ${item.name === null ? '' : html`<strong class="text">${item.name}</strong> `}<code>${item.id}</code>.
      Its requests are refused after at most 2 seconds. This cannot be undone.
    </p>
    ${webhooks.length > 0 && html`<${MadeWebhooks} webhooks=${webhooks} />`}
  <//>`;
}

function MadeWebhooks({ webhooks }) {
  return html`<p id="made-webhooks">The key created these webhooks. Revoking the key does not disable them:</p>
    <ul aria-labelledby="made-webhooks">
      ${webhooks.map(
        ({ id, url, status }) =>
          html`<li key=${id}><span class="text">${url}</span>${' '}<${State} state=${status} /></li>`,
      )}
    </ul>
    ${
      webhooks.some(({ status }) => status === 'enabled') &&
      html`<label class="check"><input type="checkbox" name="disableWebhooks" /> Also disable these webhooks</label>`
    }`;
}

export function LiftDialog({ item, ...own }) {
  return html`<${ActDialog}
    label=${`Lift the ban of ${item.start}…`}
    act=${() => callApi('POST', `/keys/${item.id}/lift-ban`)}
    notice=${`The ban of ${item.start}… is lifted.`}
    ...${own}
  >
    <p>The key works again within 2 seconds, or 5 with several instances. The rate limits of its account still apply.</p>
  <//>`;
}

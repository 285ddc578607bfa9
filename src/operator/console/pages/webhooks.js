import { useState } from 'preact/hooks';
import { callApi, formatQuery } from './api.js';
import { ActDialog, useDialog } from './dialog.js';
import { countThings, formatDuration, formatSpan, formatTime } from './format.js';
import { html } from './html.js';
import { notify } from './notices.js';
import {
  AccountLink,
  Badge,
  Choice,
  Facts,
  Field,
  Filters,
  Loaded,
  PageHead,
  Pager,
  State,
  Table,
  TextFilter,
} from './parts.js';
import { useResource } from './resource.js';
import { linkTo } from './routing.js';

const parts = ['webhooks'];
const statuses = ['enabled', 'failing', 'disabled'];
const reasons = {
  owner: 'by its account',
  operator: 'by an operator',
  gone: 'because it answered 410',
  failing: 'because it failed for days',
  restored: 'because the store was restored',
};

export function Webhooks({ query }) {
  const webhooks = useResource(`/webhooks${formatQuery(query)}`);
  const isFiltered = query.account !== undefined || query.status !== undefined;
  const empty = isFiltered ? 'No webhook on this page matches.' : 'No account has a webhook yet.';
  return html`<${PageHead} title="Webhooks" />
    <${Filters} parts=${parts} query=${query} label="Filter webhooks">
      <${TextFilter} name="account" label="Account" query=${query} />
      <${Choice} id="status" label="Status" name="status" value=${query.status} choices=${statuses} all="all" />
    <//>
    <${Loaded} resource=${webhooks}>
      ${({ items, next, oldest }) =>
        html`<${WebhookTable} webhooks=${items} oldest=${oldest} onChange=${webhooks.reload} empty=${empty} hasAccounts />
          <${Pager} parts=${parts} query=${query} next=${next} />`}
    <//>`;
}

/** The page of one webhook, with its last attempts. */
export function Webhook({ id }) {
  const found = useResource(`/webhooks/${encodeURIComponent(id)}`);
  const dialog = useDialog();
  const { reload } = found;
  const columns = [
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
  return html`<${Loaded} resource=${found}>
    ${({ webhook, attempts, oldest }) => {
      const ask = askIn(dialog, oldest, reload);
      return html`<${PageHead} title=${webhook.id}>
          <button type="button" onClick=${ask(SendDialog, webhook)}>Send an event</button>
          <${Acts} webhook=${webhook} ask=${ask} />
        <//>
        <${Facts}
          facts=${[
            ['URL', html`<span class="text">${webhook.url}</span>`],
            ['Account', html`<${AccountLink} ...${webhook} />`],
            ['Status', html`<${Status} ...${webhook} />`],
            ['Behind', html`<${Behind} ...${webhook} />`],
            ['Types', webhook.types.join(', ')],
            ['Created with the key', html`<code>${webhook.keyId}</code>`],
          ]}
        />
        <section aria-labelledby="attempts">
          <h2 id="attempts">The last attempts</h2>
          <${Table} caption="Attempts" columns=${columns} rows=${attempts} empty="No attempt in the last 7 days." />
        </section>`;
    }}
  <//>
  ${dialog.shown}`;
}

function askIn(dialog, oldest, onDone) {
  return (Dialog, webhook) => () =>
    dialog.open(html`<${Dialog} webhook=${webhook} oldest=${oldest} onDone=${onDone} />`);
}

function SendDialog({ webhook, ...own }) {
  const act = ({ eventId = '' }) =>
    callApi('POST', `/webhooks/${webhook.id}/send`, { eventId: eventId.trim() });
  return html`<${ActDialog}
    title="Send one event again"
    label="Send the event"
    act=${act}
    notice="The event is sent again within seconds."
    ...${own}
  >
    <p><${Named} webhook=${webhook} /> It gets the event once more. Its position stays.</p>
    <${Field} id="event-id" label="Event id (evt_…)">
      <input id="event-id" name="eventId" maxlength="20" required />
    <//>
  <//>`;
}

/** A table of webhooks, with the actions for each. `oldest` is the oldest event from which a replay can start. */
export function WebhookTable({ webhooks, oldest, onChange, empty, hasAccounts }) {
  const dialog = useDialog();
  const ask = askIn(dialog, oldest, onChange);
  const account = {
    title: 'Account',
    isMinor: true,
    cell: (webhook) => html`<${AccountLink} ...${webhook} />`,
  };
  const columns = [
    {
      title: 'Webhook',
      cell: ({ id, url, account: name }) =>
        html`<span class="text">${url}</span><br /><a href=${linkTo([...parts, id])}><code>${id}</code></a>
          ${hasAccounts && html`<div class="narrow"><${AccountLink} account=${name} /></div>`}`,
    },
    ...(hasAccounts ? [account] : []),
    { title: 'Status', by: 'status', cell: (webhook) => html`<${Status} ...${webhook} />` },
    { title: 'Behind', by: 'eventsBehind', cell: (webhook) => html`<${Behind} ...${webhook} />` },
    { title: 'Last attempt', by: 'lastAttemptAtMs', cell: (webhook) => html`<${Attempt} ...${webhook} />` },
    { title: 'Actions', cell: (webhook) => html`<${Acts} webhook=${webhook} ask=${ask} />` },
  ];
  return html`<${Table} caption="Webhooks" columns=${columns} rows=${webhooks} empty=${empty} />${dialog.shown}`;
}

function Status({ status, disabledBecause, isPaused }) {
  return html`<${State} state=${status} />
    ${disabledBecause && html`${' '}<span class="quiet">${reasons[disabledBecause]}</span>`}
    ${isPaused && html`${' '}<${Badge} kind="warn">paused: account suspended<//>`}`;
}

function Behind({ after, eventsBehind, behindMs }) {
  const distance =
    eventsBehind === 0
      ? 'at the end'
      : `${countThings(eventsBehind, 'event')}${behindMs === null ? '' : `, ${formatSpan(behindMs)}`}`;
  return html`${distance}<br /><code class="quiet minor">${after === null ? 'before the first' : after}</code>`;
}

function Attempt({ lastAttemptAtMs, lastResult }) {
  if (lastResult === null) return 'none yet';
  return html`<${Result} result=${lastResult} /><br />
    <span class="quiet minor">${formatTime(lastAttemptAtMs)}</span>`;
}

function Result({ result }) {
  return html`<${Badge} kind=${/^2\d\d$/.test(result) ? 'good' : 'bad'}>${result}<//>`;
}

function Acts({ webhook, ask }) {
  const act = (label, Dialog) =>
    html`<button type="button" aria-label=${`${label} ${webhook.id}`} onClick=${ask(Dialog, webhook)}>${label}</button>`;
  return html`<div class="row-acts">
    ${webhook.status === 'enabled' ? act('Disable', DisableDialog) : act('Enable', EnableDialog)}
    ${act('Replay', ReplayDialog)}
  </div>`;
}

function Named({ webhook }) {
  return html`This is the webhook of <strong class="text">${webhook.account}</strong> to
    ${' '}<strong class="text">${webhook.url}</strong>.`;
}

function EnableDialog({ webhook, ...own }) {
  return html`<${ActDialog}
    label=${`Enable ${webhook.id}`}
    act=${() => callApi('POST', `/webhooks/${webhook.id}/enable`)}
    notice=${`${webhook.id} is enabled.`}
    ...${own}
  >
    <p>
      <${Named} webhook=${webhook} /> Sending continues from its position.
      ${' '}${countThings(webhook.eventsBehind, 'event')} came after this position. The webhook gets the events that have one of its types.
    </p>
  <//>`;
}

function DisableDialog({ webhook, ...own }) {
  return html`<${ActDialog}
    label=${`Disable ${webhook.id}`}
    isDangerous
    act=${() => callApi('POST', `/webhooks/${webhook.id}/disable`)}
    notice=${`${webhook.id} is disabled.`}
    ...${own}
  >
    <p>
      <${Named} webhook=${webhook} /> No more events are sent to it, but it keeps its position. Events are kept for 30
      days. The account can enable the webhook again.
    </p>
  <//>`;
}

const starts = {
  oldest: 'all events of the last 30 days',
  event: 'the events after one event',
  now: 'only new events',
};

function ReplayDialog({ webhook, oldest, ...own }) {
  const [start, setStart] = useState('oldest');
  const act = ({ after = '' }) =>
    callApi('POST', `/webhooks/${webhook.id}/replay`, {
      after: start === 'event' ? after.trim() : start === 'now' ? 'now' : oldest,
    });
  function finish() {
    const isOff = webhook.status === 'disabled';
    notify(`${webhook.id} has its new position.${isOff ? ' It is still disabled.' : ''}`);
    own.onDone();
  }
  return html`<${ActDialog}
    label=${`Replay ${webhook.id}`}
    isDangerous
    act=${act}
    ...${own}
    onDone=${finish}
  >
    <p><${Named} webhook=${webhook} /> Its events are sent in order, starting at another position.</p>
    <${Field} id="start" label="Send">
      <select id="start" onChange=${(event) => setStart(event.target.value)}>
        ${Object.entries(starts).map(([name, label]) => html`<option value=${name} selected=${name === start}>${label}</option>`)}
      </select>
    <//>
    ${
      start === 'event' &&
      html`<${Field} id="after" label=${'Event id (evt_…), as in the field "after" of the webhook'}>
      <input id="after" name="after" maxlength="20" required />
    <//>`
    }
    <p class="hint">
      ${start === 'now' ? 'Events that were not sent yet are skipped.' : 'Events that were already sent are sent again, with the same webhook-id.'}
      ${webhook.status === 'disabled' && ' The webhook stays disabled until you enable it.'}
    </p>
  <//>`;
}

import { html } from 'htm/preact';
import { type FunctionComponent, h } from 'preact';
import { useState } from 'preact/hooks';
import { type AnswerOf, callApi } from './api.ts';
import { ActDialog, type Closing, type Dialogs } from './dialog.ts';
import { Field, type Form, readChoice } from './fields.ts';
import { countThings } from './format.ts';
import { notify } from './notices.ts';

export type WebhookData = AnswerOf<'GET /webhooks'>['items'][number];

export interface WebhookDialogProps extends Closing {
  readonly webhook: WebhookData;
  /** The oldest event from which a replay can start. */
  readonly oldest: string;
  readonly onDone: () => void;
}

/** Returns a function that opens a dialog for a webhook. */
export type Ask = (Dialog: FunctionComponent<WebhookDialogProps>, webhook: WebhookData) => () => void;

export function askIn(dialog: Dialogs, oldest: string, onDone: () => void): Ask {
  return (Dialog, webhook) => () => dialog.open((own) => h(Dialog, { ...own, webhook, oldest, onDone }));
}

function Named({ webhook }: { readonly webhook: WebhookData }) {
  return html`This is the webhook of <strong class="text">${webhook.account}</strong> to
    ${' '}<strong class="text">${webhook.url}</strong>.`;
}

export function SendDialog({ webhook, ...own }: WebhookDialogProps) {
  const { id: webhookId } = webhook;
  const act = ({ eventId = '' }: Form) =>
    callApi('POST /webhooks/{webhookId}/send', { webhookId }, { eventId: eventId.trim() });
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

export function EnableDialog({ webhook, ...own }: WebhookDialogProps) {
  const { id: webhookId, eventsBehind } = webhook;
  return html`<${ActDialog}
    label=${`Enable ${webhookId}`}
    act=${() => callApi('POST /webhooks/{webhookId}/enable', { webhookId })}
    notice=${`${webhookId} is enabled.`}
    ...${own}
  >
    <p>
      <${Named} webhook=${webhook} /> Sending continues from its position.
      ${' '}${countThings(eventsBehind, 'event')} came after this position. The webhook gets the events that have one of
      its types.
    </p>
  <//>`;
}

interface ResumeDialogProps extends Closing {
  /** The number of webhooks on hold. */
  readonly onHold: number;
  readonly onDone: () => void;
}

/** Resumes the webhooks that a restore of the store has put on hold. */
export function ResumeDialog({ onHold, ...own }: ResumeDialogProps) {
  const act = ({ fromNow }: Form) =>
    callApi('POST /webhooks/resume', {}, fromNow === undefined ? {} : { fromNow: true });
  const report = ({ resumed, failed }: AnswerOf<'POST /webhooks/resume'>) =>
    [
      `Resumed ${countThings(resumed.length, 'webhook')}.`,
      ...failed.map(({ problem }) => `${problem}.`),
    ].join(' ');
  return html`<${ActDialog} label=${`Resume ${countThings(onHold, 'webhook')}`} act=${act} notice=${report} ...${own}>
    <p>
      ${onHold === 1 ? 'It is' : 'They are'} on hold because the store was restored.
      ${' '}${onHold === 1 ? 'It continues from its' : 'Each continues from its own'} position.
    </p>
    <label class="check"><input type="checkbox" name="fromNow" /> Skip the events until now</label>
  <//>`;
}

/** True if the webhook is enabled, or on hold after a restore and would be resumed with all others. */
export function canBeDisabled({ status, disabledBecause }: Pick<WebhookData, 'status' | 'disabledBecause'>) {
  return status === 'enabled' || disabledBecause === 'restored';
}

export function DisableDialog({ webhook, ...own }: WebhookDialogProps) {
  const { id: webhookId } = webhook;
  return html`<${ActDialog}
    label=${`Disable ${webhookId}`}
    isDangerous
    act=${() => callApi('POST /webhooks/{webhookId}/disable', { webhookId })}
    notice=${`${webhookId} is disabled.`}
    ...${own}
  >
    <p>
      <${Named} webhook=${webhook} /> No more events are sent to it, but it keeps its position. Events are kept for 30
      days. The account can enable the webhook again.
      ${webhook.status === 'disabled' && ' It is on hold after a restore, and would not be resumed with the others.'}
    </p>
  <//>`;
}

const starts = {
  now: 'only new events',
  event: 'the events after one event',
  oldest: 'all events of the last 30 days',
};

export function ReplayDialog({ webhook, oldest, onDone, ...own }: WebhookDialogProps) {
  const [start, setStart] = useState('now');
  const { id: webhookId } = webhook;
  const isOff = webhook.status === 'disabled';
  const act = ({ after = '' }: Form) => {
    const place = start === 'event' ? after.trim() : start === 'now' ? 'now' : oldest;
    return callApi('POST /webhooks/{webhookId}/replay', { webhookId }, { after: place });
  };
  function finish() {
    notify(`${webhookId} has its new position.${isOff ? ' It is still disabled.' : ''}`);
    onDone();
  }
  const option = ([name, label]: readonly [string, string]) =>
    html`<option value=${name} selected=${name === start}>${label}</option>`;
  const effect =
    start === 'now'
      ? 'Events that were not sent yet are skipped.'
      : 'Events that were already sent are sent again, with the same webhook-id.';
  return html`<${ActDialog}
    label=${`Replay ${webhookId}`}
    isDangerous
    act=${act}
    ...${own}
    onDone=${finish}
  >
    <p><${Named} webhook=${webhook} /> Its events are sent in order, starting at another position.</p>
    <${Field} id="start" label="Send">
      <select id="start" onChange=${(event: Event) => setStart(readChoice(event))}>
        ${Object.entries(starts).map(option)}
      </select>
    <//>
    ${
      start === 'event' &&
      html`<${Field} id="after" label=${'Event id (evt_…), as in the field "after" of the webhook'}>
        <input id="after" name="after" maxlength="20" required />
      <//>`
    }
    <p class="hint">${effect}${isOff && ' The webhook stays disabled until you enable it.'}</p>
  <//>`;
}

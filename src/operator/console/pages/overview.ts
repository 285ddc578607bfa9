import { html } from 'htm/preact';
import { h } from 'preact';
import { useActs } from './acts.ts';
import { type AnswerOf, callApi } from './api.ts';
import { ActDialog, type Closing, useDialog } from './dialog.ts';
import { Choice, type Form } from './fields.ts';
import {
  countThings,
  formatBytes,
  formatDuration,
  formatNumber,
  formatRate,
  formatSpan,
  formatTime,
} from './format.ts';
import { Badge, type Fact, Facts, PageHead, showLoaded } from './parts.ts';
import { Plot } from './plot.ts';
import { useResource } from './resource.ts';
import { linkTo } from './routing.ts';
import { useDeclared } from './session.ts';

type State = AnswerOf<'GET /overview'>;
type Note = State['notes'][number];

export function Overview() {
  const overview = useResource('GET /overview', {}, 10_000);
  const dialog = useDialog();
  const act = useActs();
  const { log } = overview.data ?? {};
  const changeLog = () => log && dialog.open((own) => h(LogDialog, { ...own, log, onDone: overview.reload }));
  return html`
    <${PageHead} title="Overview">
      ${log && act('PUT /log', { label: 'Change the log', onClick: changeLog })}
    <//>
    ${showLoaded(
      overview,
      (state) => html`
        <${Health} ...${state} />
        <${Instances} ...${state} />
        <${Store} ...${state} />
        <${Traffic} ...${state} />
      `,
    )}
    ${dialog.shown}
  `;
}

function Health(state: State) {
  const { problems, notes } = state.health;
  const isReady = problems.length === 0;
  return html`<section aria-labelledby="health">
    <h2 id="health">Health of this instance</h2>
    <p>
      <${Badge} kind=${isReady ? 'good' : 'bad'}>${isReady ? 'ready' : 'not ready'}<//>
      ${' '}${problems.join('; ')}
    </p>
    ${notes.length > 0 && html`<ul class="notes">${notes.map((note) => html`<li key=${note}>${note}</li>`)}</ul>`}
    <${Facts} facts=${listFacts(state)} />
    <p class="hint">Counts start at zero when this instance starts.</p>
  </section>`;
}

function listFacts(state: State): readonly Fact[] {
  const { engine, webhooks, feedLagSeconds, eventWaits, storeFailures, bansBegun, nowMs } = state;
  const { version, startedAtMs, store, log } = state;
  const { lastBackupAtMs } = store;
  const toDisabled = linkTo(['webhooks'], { status: 'disabled' });
  return [
    ['Version', version],
    ['Running for', formatSpan(nowMs - startedAtMs)],
    ['Log', `level ${log.level}, ${log.requests === 'all' ? 'all requests' : 'failed and slow requests'}`],
    ['Store', engine === 'sqlite' ? 'SQLite file' : 'PostgreSQL'],
    ['Size of the store', formatBytes(store.sizeBytes)],
    ['Free on its disk', formatBytes(store.diskFreeBytes)],
    ['Last backup', lastBackupAtMs === null ? 'none' : `${formatSpan(nowMs - lastBackupAtMs)} ago`],
    ['Failed store calls', formatNumber(storeFailures)],
    ['Lag of the event feed', feedLagSeconds === null ? 'none' : formatDuration(feedLagSeconds * 1000)],
    ['Webhook farthest behind', html`<${Farthest} ...${webhooks} />`],
    ['Webhooks disabled', html`<a href=${toDisabled}>${formatNumber(webhooks.disabled)}</a>`],
    ['Requests waiting for events', formatNumber(eventWaits)],
    ['Bans', formatNumber(bansBegun)],
    ['As of', formatTime(nowMs)],
  ];
}

interface LogDialogProps extends Closing {
  readonly log: State['log'];
  readonly onDone: () => void;
}

const asSet = 'as its settings say';

function LogDialog({ log, ...own }: LogDialogProps) {
  const { logLevels, requestLogs } = useDeclared();
  const act = ({ level, requests }: Form) => callApi('PUT /log', {}, { level, requests });
  return html`<${ActDialog}
    title="Change the log"
    label="Change the log"
    act=${act}
    notice="Every running instance logs like this within 2 seconds."
    ...${own}
  >
    <p>This holds for every running instance, until it starts again.</p>
    <${Choice} id="log-level" label="Lowest level" name="level" value=${log.level} choices=${logLevels} all=${asSet} />
    <${Choice} id="log-requests" label="Requests" name="requests" value=${log.requests} choices=${requestLogs} all=${asSet} />
  <//>`;
}

function Instances({ instances }: State) {
  const line = ({ host, version, startedAtMs, isThis }: State['instances'][number]) =>
    html`<li>${host}: ${version}, since ${formatTime(startedAtMs)}${isThis && instances.length > 1 && ' (this one)'}</li>`;
  return html`<section aria-labelledby="instances">
    <h2 id="instances">${countThings(instances.length, 'instance')} on this store</h2>
    <ul>${instances.map(line)}</ul>
  </section>`;
}

function Farthest({ farthest }: State['webhooks']) {
  if (farthest === null) return 'none';
  return html`<a href=${linkTo(['webhooks'], { status: 'enabled' })}>${formatSpan(farthest.behindMs)}</a>
    ${' '}<code class="quiet">${farthest.id}</code>`;
}

function Store({ inventory }: State) {
  const { petStatuses } = useDeclared();
  const facts = petStatuses.map((status): Fact => {
    const count = formatNumber(inventory[status]);
    return [`Animals ${status}`, html`<a href=${linkTo(['animals'], { status })}>${count}</a>`];
  });
  return html`<section aria-labelledby="store">
    <h2 id="store">The store</h2>
    <${Facts} facts=${facts} />
  </section>`;
}

/** Minimum length of the time axis in seconds. It matters only shortly after a start. */
const spanMin = 600;

/** The lines of the first plot: the count in a note, and its name. */
const rates = [
  ['requests', 'all'],
  ['refused', 'refused (429)'],
  ['failed', 'failed (5xx)'],
  ['rejected', 'rejected (other 4xx)'],
] as const satisfies readonly (readonly [keyof Note, string])[];

function Traffic({ notes, nowMs }: State) {
  return html`<section aria-labelledby="traffic">
    <h2 id="traffic">The last hour of this instance</h2>
    ${
      notes.length === 0
        ? html`<p class="empty">The first values appear within 20 seconds after the start.</p>`
        : html`<${Plots} notes=${notes} nowMs=${nowMs} />`
    }
  </section>`;
}

function Plots({ notes, nowMs }: Pick<State, 'notes' | 'nowMs'>) {
  const endSeconds = nowMs / 1000;
  const span = [Math.min((notes[0]?.atMs ?? nowMs) / 1000, endSeconds - spanMin), endSeconds];
  const times = notes.map(({ atMs }) => atMs / 1000);
  return html`<div class="plots">
    <${Plot}
      title="Requests per second"
      times=${times}
      span=${span}
      series=${rates.map(([, label]) => label)}
      values=${rates.map(([name]) => notes.map((note) => note[name] / note.seconds))}
      format=${formatRate}
    />
    <${Plot}
      title="Response time"
      times=${times}
      span=${span}
      series=${['median', '99th percentile']}
      values=${[notes.map(({ medianMs }) => medianMs), notes.map(({ slowMs }) => slowMs)]}
      format=${formatDuration}
    />
  </div>`;
}

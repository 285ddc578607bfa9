import { formatDuration, formatNumber, formatRate, formatSpan, formatTime } from './format.js';
import { html } from './html.js';
import { Badge, Facts, Loaded, PageHead } from './parts.js';
import { Plot } from './plot.js';
import { useResource } from './resource.js';
import { linkTo } from './routing.js';

export function Overview() {
  const overview = useResource('/overview', 10_000);
  return html`<${PageHead} title="Overview" />
    <${Loaded} resource=${overview}>
      ${(data) =>
        html`<${Health} ...${data} />
          <${Store} ...${data} />
          <${Traffic} notes=${data.notes} nowMs=${data.nowMs} />`}
    <//>`;
}

function Health({ health, engine, webhooks, feedLagSeconds, eventWaits, storeFailures, bansBegun, nowMs }) {
  const { problems, notes } = health;
  const isReady = problems.length === 0;
  return html`<section aria-labelledby="health">
    <h2 id="health">Health of this instance</h2>
    <p>
      <${Badge} kind=${isReady ? 'good' : 'bad'}>${isReady ? 'ready' : 'not ready'}<//>
      ${' '}${problems.join('; ')}
    </p>
    ${
      notes.length > 0 &&
      html`<ul class="notes">${notes.map((note) => html`<li key=${note}>${note}</li>`)}</ul>`
    }
    <${Facts}
      facts=${[
        ['Store', engine === 'sqlite' ? 'SQLite file' : 'PostgreSQL'],
        ['Failed store calls', formatNumber(storeFailures)],
        ['Lag of the event feed', feedLagSeconds === null ? 'none' : formatDuration(feedLagSeconds * 1000)],
        ['Webhook farthest behind', html`<${Farthest} ...${webhooks} />`],
        [
          'Webhooks disabled',
          html`<a href=${linkTo(['webhooks'], { status: 'disabled' })}>${formatNumber(webhooks.disabled)}</a>`,
        ],
        ['Requests waiting for events', formatNumber(eventWaits)],
        ['Bans', formatNumber(bansBegun)],
        ['As of', formatTime(nowMs)],
      ]}
    />
    <p class="hint">Counts start at zero when this instance starts.</p>
  </section>`;
}

function Farthest({ farthest }) {
  if (farthest === null) return 'none';
  return html`<a href=${linkTo(['webhooks'], { status: 'enabled' })}>${formatSpan(farthest.behindMs)}</a>
    ${' '}<code class="quiet">${farthest.id}</code>`;
}

function Store({ inventory }) {
  const facts = ['available', 'pending', 'sold'].map((status) => [
    `Animals ${status}`,
    html`<a href=${linkTo(['animals'], { status })}>${formatNumber(inventory[status])}</a>`,
  ]);
  return html`<section aria-labelledby="store"><h2 id="store">The store</h2><${Facts} facts=${facts} /></section>`;
}

/** Minimum length of the time axis in seconds. It matters only shortly after a start. */
const spanMin = 600;

function Traffic({ notes, nowMs }) {
  const span = [Math.min((notes[0]?.atMs ?? nowMs) / 1000, nowMs / 1000 - spanMin), nowMs / 1000];
  const times = notes.map(({ atMs }) => atMs / 1000);
  const rate = (name) => notes.map((note) => note[name] / note.seconds);
  return html`<section aria-labelledby="traffic">
    <h2 id="traffic">The last hour of this instance</h2>
    ${
      notes.length === 0
        ? html`<p class="empty">The first values appear within 20 seconds after the start.</p>`
        : html`<div class="plots">
          <${Plot}
            title="Requests per second"
            times=${times}
            span=${span}
            series=${['all', 'refused (429)', 'failed (5xx)', 'rejected (other 4xx)']}
            values=${['requests', 'refused', 'failed', 'rejected'].map(rate)}
            format=${formatRate}
          />
          <${Plot}
            title="Response time"
            times=${times}
            span=${span}
            series=${['median', '99th percentile']}
            values=${['medianMs', 'slowMs'].map((name) => notes.map((note) => note[name]))}
            format=${formatDuration}
          />
        </div>`
    }
  </section>`;
}

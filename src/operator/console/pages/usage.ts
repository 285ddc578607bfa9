import { html } from 'htm/preact';
import type { AnswerOf } from './api.ts';
import { formatNumber, formatTimeLeft } from './format.ts';
import { Plot } from './plot.ts';
import { type Now, useTime } from './resource.ts';

type Account = AnswerOf<'GET /accounts/{account}'>;

interface WindowsProps extends Pick<Account, 'minute' | 'day'> {
  readonly now: Now;
}

/** Shows the remaining requests in both rate limit windows of an account. `now()` is the time of the service. */
export function Windows({ minute, day, now }: WindowsProps) {
  return html`<section aria-labelledby="windows">
    <h2 id="windows">Remaining requests</h2>
    <div class="windows">
      <${Window} title="This minute" id="minute" now=${now} ...${minute} />
      <${Window} title="This day" id="day" now=${now} ...${day} />
    </div>
  </section>`;
}

type WindowProps = Account['minute'] & { readonly id: string; readonly title: string; readonly now: Now };

function Window({ id, title, now, limit, used, remaining, resetAtMs }: WindowProps) {
  const nowMs = useTime(now);
  const isFull = remaining === 0;
  return html`<div class="window">
    <label for=${id}>${title}</label>
    <meter id=${id} min="0" max=${limit} high=${limit * 0.8} optimum="0" value=${used}>${used} of ${limit}</meter>
    <p>
      <strong class=${isFull ? 'bad' : ''}>${formatNumber(remaining)} left</strong> of ${formatNumber(limit)};
      ${resetAtMs === null ? ' not used yet.' : ` resets in ${formatTimeLeft(resetAtMs, nowMs)}.`}
    </p>
  </div>`;
}

const hourMs = 3_600_000;
const shownHours = 7 * 24;
const none = { requests: 0, refusals: 0, errors: 0 } satisfies Omit<Account['usage'][number], 'atMs'>;

/** The lines of the plot: the count in an hour, and its name. */
const lines = [
  ['requests', 'all'],
  ['refusals', 'refused (429)'],
  ['errors', 'errors'],
] as const satisfies readonly (readonly [keyof typeof none, string])[];

/** Returns every hour of the last 7 days. The API omits hours without requests. */
function fillHours(hours: Account['usage'], nowMs: number) {
  const given = new Map(hours.map((hour) => [hour.atMs, hour]));
  const lastMs = nowMs - (nowMs % hourMs);
  return Array.from({ length: shownHours + 1 }, (_, index) => {
    const atMs = lastMs - (shownHours - index) * hourMs;
    return given.get(atMs) ?? { atMs, ...none };
  });
}

interface UsageProps {
  readonly hours: Account['usage'];
  readonly nowMs: number;
}

export function Usage({ hours, nowMs }: UsageProps) {
  return html`<section aria-labelledby="usage">
    <h2 id="usage">The last 7 days</h2>
    ${
      hours.length === 0
        ? html`<p class="empty">No request yet.</p>`
        : html`<${HourlyUsage} hours=${hours} nowMs=${nowMs} />`
    }
  </section>`;
}

function HourlyUsage({ hours, nowMs }: UsageProps) {
  const total = (name: keyof typeof none) => formatNumber(hours.reduce((sum, hour) => sum + hour[name], 0));
  const filled = fillHours(hours, nowMs);
  const times = filled.map(({ atMs }) => atMs / 1000);
  return html`
    <${Plot}
      title="Requests an hour"
      times=${times}
      span=${[times[0], times.at(-1)]}
      series=${lines.map(([, label]) => label)}
      values=${lines.map(([name]) => filled.map((hour) => hour[name]))}
      format=${formatNumber}
    />
    <p class="hint">
      ${`${total('requests')} requests, ${total('refusals')} refused, ${total('errors')} answered with an error.`}
    </p>
  `;
}

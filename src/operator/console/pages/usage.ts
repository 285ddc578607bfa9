import { html } from 'htm/preact';
import type { AnswerOf } from './api.ts';
import { saveCsv } from './csv.ts';
import { formatDay, formatNumber, formatTimeLeft } from './format.ts';
import { showLoaded } from './parts.ts';
import { Plot } from './plot.ts';
import { type Now, useResource, useTime } from './resource.ts';

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
const dayMs = 24 * hourMs;

type Counted = Account['usage'][number];

const none = { requests: 0, refusals: 0, errors: 0 } satisfies Omit<Counted, 'atMs'>;

/** The lines of a plot: the count in an hour or on a day, and its name. */
const lines = [
  ['requests', 'all'],
  ['refusals', 'refused (429)'],
  ['errors', 'errors'],
] as const satisfies readonly (readonly [keyof typeof none, string])[];

/** Returns every hour or day from the one of `sinceMs` on. The API omits those without requests. */
function fillGaps(given: readonly Counted[], stepMs: number, sinceMs: number, nowMs: number): Counted[] {
  const found = new Map(given.map((counted) => [counted.atMs, counted]));
  const firstMs = sinceMs - (sinceMs % stepMs);
  return Array.from({ length: Math.floor((nowMs - firstMs) / stepMs) + 1 }, (_, index) => {
    const atMs = firstMs + index * stepMs;
    return found.get(atMs) ?? { atMs, ...none };
  });
}

interface UsageProps {
  readonly hours: Account['usage'];
  readonly nowMs: number;
}

export function Usage({ hours, nowMs }: UsageProps) {
  return html`<section aria-labelledby="usage">
    <h2 id="usage">The last 7 days</h2>
    <${Counts} title="Requests an hour" counted=${fillGaps(hours, hourMs, nowMs - 7 * dayMs, nowMs)} />
  </section>`;
}

/** Shows the requests of an account by day, as far as the store has them. */
export function UsageByDay({ account }: { readonly account: string }) {
  const days = useResource('GET /accounts/{account}/days', { account });
  return html`<section aria-labelledby="usage-days">
    <div class="page-head">
      <h2 id="usage-days">The last 13 months</h2>
      ${days.data !== null && html`<${DaysLink} account=${account} days=${days.data.days} />`}
    </div>
    ${showLoaded(days, ({ days: given, nowMs }) => {
      // At least two weeks, because a few days make no line.
      const sinceMs = Math.min(given[0]?.atMs ?? nowMs, nowMs - 14 * dayMs);
      return html`<${Counts} title="Requests a day" counted=${fillGaps(given, dayMs, sinceMs, nowMs)} />`;
    })}
  </section>`;
}

interface DaysLinkProps {
  readonly account: string;
  readonly days: readonly Counted[];
}

/** A link that saves the days as a CSV file. It is made at the click, because each address of a file takes memory. */
function DaysLink({ account, days }: DaysLinkProps) {
  const rows = days.map(({ atMs, requests, refusals, errors }) => ({
    day: formatDay(atMs),
    account,
    requests,
    refused: refusals,
    errors,
  }));
  return html`<button type="button" class="csv" onClick=${() => saveCsv(`usage of ${account}`, rows)}>CSV by day</button>`;
}

interface CountsProps {
  readonly title: string;
  readonly counted: readonly Counted[];
}

function Counts({ title, counted }: CountsProps) {
  const sum = (name: keyof typeof none) => counted.reduce((total, each) => total + each[name], 0);
  if (sum('requests') === 0) return html`<p class="empty">No request yet.</p>`;
  const total = (name: keyof typeof none) => formatNumber(sum(name));
  const times = counted.map(({ atMs }) => atMs / 1000);
  return html`
    <${Plot}
      title=${title}
      times=${times}
      span=${[times[0], times.at(-1)]}
      series=${lines.map(([, label]) => label)}
      values=${lines.map(([name]) => counted.map((each) => each[name]))}
      format=${formatNumber}
    />
    <p class="hint">
      ${`${total('requests')} requests, ${total('refusals')} refused, ${total('errors')} answered with an error.`}
    </p>
  `;
}

import type { Registry } from 'prom-client';
import { createDurations, type Durations, expose } from '../observability/metrics.ts';
import type { UsageCounts } from '../usage/usage.ts';
import type { RequestObserver } from './request-log.ts';
import type { Route } from './route.ts';

/** The durations of the requests of one route and method, by status. */
interface Series {
  readonly name: string;
  readonly answers: Map<number, Durations>;
}

/** Counts and times requests by status and by pattern of the route, so that clients cannot create series. */
export function countRequests(registry: Registry): RequestObserver {
  const none: Series = { name: 'none', answers: new Map() };
  const malformed: Series = { name: 'malformed', answers: new Map() };
  const all = [none, malformed];
  const byRoute = { HEAD: new Map<Route, Series>(), own: new Map<Route, Series>() };

  function findSeries(route: Route | null, method: string | undefined): Series {
    if (route === null) return none;
    const known = method === 'HEAD' ? byRoute.HEAD : byRoute.own;
    const series = known.get(route);
    if (series !== undefined) return series;
    const name = `${method} ${route.path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
    const opened: Series = { name, answers: new Map() };
    all.push(opened);
    known.set(route, opened);
    return opened;
  }

  expose(registry, 'counter', 'requests_total', 'Requests that were answered.', () =>
    listAnswers(all).map(([labels, durations]) => ({ labels, value: durations.count() })),
  );
  const help = 'Time from the arrival of the request head until the response is sent.';
  expose(registry, 'histogram', 'request_duration_seconds', help, () =>
    listAnswers(all).flatMap(([labels, durations]) => durations.listSamples(labels)),
  );

  return {
    note: ({ match, request }, status, ms) => noteAnswer(findSeries(match.route, request.method), status, ms),
    // The arrival time of a malformed request is not known.
    noteMalformed: ({ status }) => noteAnswer(malformed, status, 0),
  };
}

function noteAnswer({ answers }: Series, status: number, ms: number): void {
  let durations = answers.get(status);
  if (durations === undefined) {
    durations = createDurations();
    answers.set(status, durations);
  }
  durations.note(ms);
}

function listAnswers(all: readonly Series[]) {
  return all.flatMap(({ name: route, answers }) =>
    [...answers].map(([status, durations]) => [{ route, status: String(status) }, durations] as const),
  );
}

/** Counts the requests of each account. Requests without a valid key are not counted. */
export function countUsage(usage: Pick<UsageCounts, 'note'>): RequestObserver {
  return {
    note({ caller }, status) {
      if (caller !== null) usage.note(caller, status);
    },
    noteMalformed: () => undefined,
  };
}

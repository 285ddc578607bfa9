import type { FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { createDurations, type Durations, exposeDurations } from '../observability/durations.ts';
import { expose } from '../observability/metrics.ts';
import type { ReadyAnswer } from './ready-answers.ts';
import { countMs, type RequestLog } from './request-log.ts';

/** The answers of one route: how long they took, by their status. */
interface Route {
  readonly name: string;
  readonly answers: Map<number, Durations>;
}

/** A request log that also counts and times what it is told. */
export interface CountingRequestLog extends RequestLog {
  /** For what was answered from memory, in microseconds: it counts as 0, as asking the clock would double the cost. */
  noteReady(operation: ReadyAnswer['operation']): void;
}

/**
 * Counts and times requests by route and status, and passes them on. A route is told by its pattern and never by the
 * path of a request, so that no client can add to them: `none` stands for all addresses that are none, `unreadable`
 * for what is no HTTP.
 */
export function countRequests(log: RequestLog, registry: Registry): CountingRequestLog {
  const routes = new Map<string, Route>();
  const byConfig = new WeakMap<object, Route>();
  const none = openRoute('none');
  const unreadable = openRoute('unreadable');
  const ofLane = {
    listPets: openRoute('GET /v1/pets'),
    createPet: openRoute('POST /v1/pets'),
    getPet: openRoute('GET /v1/pets/:petId'),
  };

  expose(registry, { name: 'requests_total', type: 'counter', help: 'Requests that were answered.' }, () =>
    listAnswers(routes).map(([labels, durations]) => ({ labels, value: durations.count() })),
  );
  exposeDurations(
    registry,
    {
      name: 'request_duration_seconds',
      help: 'How long requests took, until their answer was handed over to be sent.',
    },
    () => listAnswers(routes),
  );

  function openRoute(name: string): Route {
    const route = routes.get(name) ?? { name, answers: new Map() };
    routes.set(name, route);
    return route;
  }

  function findRoute({ routeOptions }: FastifyRequest): Route {
    const { config, method, url } = routeOptions;
    if (url === undefined) return none;
    const known = byConfig.get(config);
    if (known !== undefined) return known;
    const route = openRoute(`${method} ${url}`);
    byConfig.set(config, route);
    return route;
  }

  return {
    note(request, reply) {
      noteAnswer(findRoute(request), reply.statusCode, countMs(request, reply));
      log.note(request, reply);
    },
    noteUnreadable(answer) {
      // When it began is not known.
      noteAnswer(unreadable, answer.status, 0);
      log.noteUnreadable(answer);
    },
    noteLane(entry) {
      noteAnswer(ofLane[entry.operation], entry.status, entry.ms);
      log.noteLane(entry);
    },
    noteReady: (operation) => noteAnswer(ofLane[operation], 200, 0),
  };
}

function noteAnswer({ answers }: Route, status: number, ms: number): void {
  let durations = answers.get(status);
  if (durations === undefined) {
    durations = createDurations();
    answers.set(status, durations);
  }
  durations.note(ms);
}

function listAnswers(routes: ReadonlyMap<string, Route>) {
  return Array.from(routes.values()).flatMap(({ name, answers }) =>
    Array.from(
      answers,
      ([status, durations]) => [{ route: name, status: String(status) }, durations] as const,
    ),
  );
}

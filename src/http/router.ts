import createFinder, { type HTTPMethod } from 'find-my-way';
import { AppError } from '../errors.ts';
import { headerBytesMax } from './connection/bounds.ts';
import { readPath } from './request/path.ts';
import { type Access, methods, methodsOf, type Route } from './route.ts';

/** The route of a request, or the reason why there is none. */
export interface Match {
  readonly route: Route | null;
  readonly params: Readonly<Record<string, string | undefined>>;
  /** The text after the `?`. */
  readonly query: string;
  readonly access: Access;
  /** Null if there is a route. */
  readonly failure: AppError | null;
  /** The allowed methods, if only the method is wrong. */
  readonly allow: string | null;
}

export interface Router {
  find(method: string, target: string): Match;
}

const underVersion = /^\/v1(?:\/|%2f|$)/i;
const documentation = /^\/(?:docs(?:\/|$)|$)/;
const badPath = new AppError('invalid_parameter', 'the path is not valid percent-encoded UTF-8');
const noEndpoint = new AppError('not_found', 'no such endpoint');
const operators: ReadonlySet<Access> = new Set(['operator', 'visitor', 'console']);
const noParams = {};

/** Creates a router that finds routes by method and address. GET routes also answer HEAD. */
export function createRouter(routes: readonly Route[]): Router {
  const isOperators = routes.every(({ access }) => operators.has(access));
  const ignore = () => {};
  const finder = createFinder({
    maxParamLength: headerBytesMax,
    querystringParser: (text) => text,
    onBadUrl: ignore,
  });
  for (const route of routes)
    finder.on(methodsOf(route), route.path.replaceAll(/\{(\w+)\}/g, ':$1'), ignore, route);

  /** Null if there is no route. `*` is not an address, but the finder does not compare the first character. */
  function look(method: string, target: string) {
    return target === '*' ? null : finder.find(method as HTTPMethod, target);
  }

  function listAllowed(target: string): string[] {
    return [...methods, 'HEAD'].filter((method) => look(method, target)?.store != null).sort();
  }

  function explain(method: string, target: string): Match {
    const path = readPath(target);
    const allowed = path === null ? [] : listAllowed(target);
    const known = allowed[0] && (look(allowed[0], target)?.store as Route);
    const access = known ? known.access : accessOf(path);
    const base = { route: null, params: noParams, query: '', access, allow: null };
    if (path === null) return { ...base, failure: badPath };
    if (!known) return { ...base, failure: noEndpoint };
    const allow = allowed.join(', ');
    const message = `${method} is not allowed here; allowed: ${allow}`;
    return { ...base, allow, failure: new AppError('method_not_allowed', message) };
  }

  /** An undecodable path counts as part of the interface. */
  function accessOf(path: string | null): Access {
    if (isOperators) return 'operator';
    if (path === null || underVersion.test(path)) return 'key';
    return documentation.test(path) ? 'reader' : 'anyone';
  }

  return {
    find(method, target) {
      const found = look(method, target);
      if (found?.store == null) return explain(method, target);
      const route = found.store as Route;
      const query = found.searchParams as unknown as string;
      return { route, params: found.params, query, access: route.access, failure: null, allow: null };
    },
  };
}

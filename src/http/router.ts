import createFinder, { type HTTPMethod } from 'find-my-way';
import { AppError } from '../errors.ts';
import { headerBytesMax } from './connection/bounds.ts';
import { type Access, methods, methodsOf, type Route } from './route.ts';

export interface Match {
  readonly route: Route | null;
  readonly params: Readonly<Record<string, string | undefined>>;
  /** The text after the `?`, not decoded. Empty if no route matches. */
  readonly query: string;
  readonly access: Access;
  /** The error for the client. Null if a route matches. */
  readonly failure: AppError | null;
  /** Value of the `Allow` header if the path exists, but not with this method. Otherwise null. */
  readonly allow: string | null;
}

export type Router = ReturnType<typeof createRouter>;

const underVersion = /^\/v1(?:\/|%2f|$)/i;
const underOperatorsApi = /^\/ops\/v1(?:\/|%2f|$)/i;
const documentation = /^\/(?:docs(?:\/|$)|$)/;
const badPath = new AppError('invalid_parameter', 'the path is not valid percent-encoded UTF-8');
const slashAtEnd = new AppError('not_found', 'no such endpoint: the path must not end in /');
const noEndpoint = new AppError('not_found', 'no such endpoint');
const operators: ReadonlySet<Access> = new Set(['operator', 'visitor', 'console', 'token']);
const noParams = {};

export function createRouter(routes: readonly Route[]) {
  const isOperators = routes.every(({ access }) => operators.has(access));
  const ignore = () => {};
  const finder = createFinder({
    maxParamLength: headerBytesMax,
    querystringParser: (text) => text,
    onBadUrl: ignore,
  });
  for (const route of routes)
    finder.on(methodsOf(route), route.path.replaceAll(/\{(\w+)\}/g, ':$1'), ignore, route);

  /** A `*` in place of the first `/` is excluded here, because find-my-way ignores the first character. */
  function look(method: string, target: string) {
    const found = target.startsWith('*') ? null : finder.find(method as HTTPMethod, target);
    return found !== null && hasEmptyParameter(found.params) ? null : found;
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
    if (!known) return { ...base, failure: endsInSlash(path) ? slashAtEnd : noEndpoint };
    const allow = allowed.join(', ');
    const message = `${method} is not allowed here; allowed: ${allow}`;
    return { ...base, allow, failure: new AppError('method_not_allowed', message) };
  }

  /** Returns true if a path is that of an endpoint with a slash at its end. */
  function endsInSlash(path: string): boolean {
    return /[^/]\/$/.test(path) && listAllowed(path.slice(0, -1)).length > 0;
  }

  /** Returns the access level of a path without a route. A path that cannot be decoded counts as part of the API. */
  function accessOf(path: string | null): Access {
    if (isOperators) return path === null || underOperatorsApi.test(path) ? 'token' : 'operator';
    if (path === null || underVersion.test(path)) return 'key';
    return documentation.test(path) ? 'reader' : 'anyone';
  }

  return {
    find(method: string, target: string): Match {
      const found = look(method, target);
      if (found?.store == null) return explain(method, target);
      const route = found.store as Route;
      const query = found.searchParams as unknown as string;
      return { route, params: found.params, query, access: route.access, failure: null, allow: null };
    },
  };
}

/** True if a named parameter is empty, as in `/v1/pets/`. The rest of a path (`*`) may be empty. */
function hasEmptyParameter(params: Readonly<Record<string, string | undefined>>): boolean {
  for (const name in params) if (params[name] === '' && name !== '*') return true;
  return false;
}

const schemeAndHost = /^https?:\/\/[^/?#]*/i;

/** Returns the path of a request target as the router sees it, percent-decoded. Null if it cannot be decoded. */
export function readPath(target: string): string | null {
  const [path = ''] = target.replace(schemeAndHost, '').split(/[?#]/, 1);
  try {
    return decodeURI(path);
  } catch {
    return null;
  }
}

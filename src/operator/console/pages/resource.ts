import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type Address, type AnswerOf, asError, callApi, formatPath, type ParametersOf } from './api.ts';

/** Returns a time in Unix milliseconds. */
export type Now = () => number;

export interface Resource<Data> {
  readonly data: Data | null;
  readonly failure: Error | null;
  /** The time of the service if the response has `nowMs`, because the clock of the browser may be wrong. */
  readonly now: Now;
  readonly reload: () => Promise<void>;
}

const nothing = { data: null, failure: null, now: Date.now };

/**
 * Calls a GET of the API. Returns `data` or `failure`, both null at first. `reload` calls it again. If `everyMs` is set,
 * it is also called again and again while the page is visible.
 */
export function useResource<Of extends Address & `GET ${string}`>(
  address: Of,
  parameters: ParametersOf<Of>,
  everyMs = 0,
): Resource<AnswerOf<Of>> {
  type Found = Omit<Resource<AnswerOf<Of>>, 'reload'> & { readonly path: string };
  const path = formatPath(address, parameters);
  const [found, setFound] = useState<Found>({ path, ...nothing });
  const wanted = useRef({ path, parameters });
  wanted.current = { path, parameters };

  const reload = useCallback(async () => {
    const asked = wanted.current;
    const next = await load();
    // Ignore the response if the user has left the page.
    if (wanted.current.path !== asked.path) return;
    setFound((last) =>
      next.failure !== null && last.path === asked.path ? { ...last, failure: next.failure } : next,
    );

    async function load(): Promise<Found> {
      try {
        const data = await callApi(address, asked.parameters);
        return { path: asked.path, data, failure: null, now: startClock(data) };
      } catch (thrown) {
        return { path: asked.path, ...nothing, failure: asError(thrown) };
      }
    }
  }, []);

  useEffect(() => {
    reload();
  }, [path]);
  useEffect(() => {
    if (everyMs === 0) return;
    const timer = setInterval(() => document.hidden || reload(), everyMs);
    return () => clearInterval(timer);
  }, [path, everyMs]);

  return { ...(found.path === path ? found : nothing), reload };
}

/** Returns a clock that starts at the `nowMs` of a response, the time of the service. */
function startClock(data: unknown): Now {
  const nowMs = typeof data === 'object' && data !== null && 'nowMs' in data ? data.nowMs : null;
  if (typeof nowMs !== 'number') return Date.now;
  const differenceMs = nowMs - Date.now();
  return () => Date.now() + differenceMs;
}

/** Returns the time of a clock. The component renders again every second. */
export function useTime(now: Now): number {
  const [, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return now();
}

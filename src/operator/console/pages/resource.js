import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { callApi } from './api.js';

const nothing = { data: null, failure: null, now: Date.now };

/**
 * Loads a path of the API. Returns `data` or `failure`, both null at first. `reload` loads the path again. If `everyMs`
 * is set, the path is also polled while the page is visible. The function `now()` returns the time of the service if
 * the response has `nowMs`, because the clock of the browser may be wrong.
 */
export function useResource(path, everyMs = 0) {
  const [found, setFound] = useState({ path, ...nothing });
  const wanted = useRef(path);
  wanted.current = path;

  const reload = useCallback(async () => {
    const asked = wanted.current;
    let next;
    try {
      const data = await callApi('GET', asked);
      next = { path: asked, data, failure: null, now: startClock(data.nowMs) };
    } catch (failure) {
      next = { path: asked, ...nothing, failure };
    }
    // Ignore the response if the user has left the page.
    if (wanted.current !== asked) return;
    setFound((last) => (next.failure && last.path === asked ? { ...last, failure: next.failure } : next));
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

/** Returns a clock that starts at `nowMs`, the time of the service. */
function startClock(nowMs) {
  if (nowMs === undefined) return Date.now;
  const differenceMs = nowMs - Date.now();
  return () => Date.now() + differenceMs;
}

/** Returns the time of a clock. The component renders again every second. */
export function useTime(now) {
  const [, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return now();
}

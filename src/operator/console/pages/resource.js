import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { callApi } from './api.js';

const nothing = { data: null, failure: null, now: Date.now };

/**
 * The answer of the API to a GET: `data` or `failure`, both null at first. `reload` reads it again. With `everyMs` it is
 * also polled while the page is visible. If the answer has `nowMs`, `now` gives the time of the service, because the clock
 * of the browser may be wrong.
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
    // An answer for a page that the user has left is ignored.
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

/** A clock set to the time of an answer. */
function startClock(nowMs) {
  if (nowMs === undefined) return Date.now;
  const differenceMs = nowMs - Date.now();
  return () => Date.now() + differenceMs;
}

/** The time of a clock. The component renders again every second. */
export function useTime(now) {
  const [, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return now();
}

import { useEffect, useState } from 'preact/hooks';
import { formatQuery } from './api.js';

/** The route in the URL: `#/animals/42?status=sold` has the parts `animals` and `42`, and a query. */
export function readRoute() {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const parts = path.split('/').filter((part) => part !== '');
  return { parts: parts.map(decode), query: Object.fromEntries(new URLSearchParams(query)) };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The URL of a page, with its parts and the values of its query that are set. */
export function linkTo(parts, query = {}) {
  return `#/${parts.map((part) => encodeURIComponent(part)).join('/')}${formatQuery(query)}`;
}

/** Goes to a page. */
export function goTo(parts, query = {}) {
  location.hash = linkTo(parts, query);
}

/** The current route. The component renders again when it changes. */
export function useRoute() {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const follow = () => setRoute(readRoute());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return route;
}

import { useEffect, useState } from 'preact/hooks';
import { formatQuery } from './api.ts';

/** The values in the URL of a page, by name. */
export type Query = Readonly<Partial<Record<string, string>>>;

/**
 * Parses the route in the URL. `#/animals/42?status=sold` has the parts `animals` and `42`, and the query
 * `status=sold`.
 */
function readRoute(): { readonly parts: readonly string[]; readonly query: Query } {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const parts = path.split('/').filter((part) => part !== '');
  return { parts: parts.map(decode), query: Object.fromEntries(new URLSearchParams(query)) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the URL of a page. Omits undefined and empty values of the query. */
export function linkTo(parts: readonly string[], query: Parameters<typeof formatQuery>[0] = {}): string {
  return `#/${parts.map((part) => encodeURIComponent(part)).join('/')}${formatQuery(query)}`;
}

export function goTo(parts: readonly string[], query: Query = {}): void {
  location.hash = linkTo(parts, query);
}

/** Returns the current route. The component renders again when the route changes. */
export function useRoute(): ReturnType<typeof readRoute> {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const follow = () => setRoute(readRoute());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return route;
}

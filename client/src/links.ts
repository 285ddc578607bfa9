/** Matches each link of a `Link` header (RFC 8288) with its parameters. */
const links = /<([^>]*)>((?:[^,"]|"[^"]*")*)/g;
const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i;

/** Returns the target of the first link with this relation, or null. */
export function findLink(headers: Headers, wanted: string): string | null {
  for (const [, target = '', parameters = ''] of (headers.get('link') ?? '').matchAll(links)) {
    const [, quoted, plain] = relation.exec(parameters) ?? [];
    if ((quoted ?? plain ?? '').toLowerCase().split(/\s+/).includes(wanted)) return target;
  }
  return null;
}

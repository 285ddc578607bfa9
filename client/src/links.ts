/** Each link of a `Link` header (RFC 8288) with its parameters. */
const links = /<([^>]*)>((?:[^,"]|"[^"]*")*)/g;
const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i;

/** Where the first link of a relation leads, as it stands; null without one. */
export function findLink(headers: Headers, wanted: string): string | null {
  for (const [, target = '', parameters = ''] of (headers.get('link') ?? '').matchAll(links)) {
    const [, quoted, plain] = relation.exec(parameters) ?? [];
    if ((quoted ?? plain ?? '').toLowerCase().split(/\s+/).includes(wanted)) return target;
  }
  return null;
}

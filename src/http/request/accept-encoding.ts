/**
 * True if an `Accept-Encoding` header accepts gzip (RFC 9110, section 12.5.3). The weight of `gzip` must be above 0. If
 * `gzip` is not listed, the weight of `*` counts. A malformed weight counts as 0, because an unencoded response is
 * always correct.
 */
export function takesGzip(acceptEncoding: string): boolean {
  const weights = new Map(acceptEncoding.toLowerCase().split(',').map(readWeight));
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}

function readWeight(text: string): [coding: string, weight: number] {
  const [coding = '', weight = 'q=1'] = text.split(';').map((part) => part.trim());
  return [coding, /^q=[01](?:\.\d{0,3})?$/.test(weight) ? Number(weight.slice('q='.length)) : 0];
}

/**
 * Whether an `Accept-Encoding` accepts gzip (RFC 9110, section 12.5.3). It does if it has `gzip`, in any case, or else
 * `*` with a weight above 0. An unreadable header does not, because an unencoded answer is always right.
 */
export function takesGzip(acceptEncoding: string): boolean {
  const weights = new Map(acceptEncoding.toLowerCase().split(',').map(readWeight));
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}

function readWeight(text: string): [coding: string, weight: number] {
  const [coding = '', weight = 'q=1'] = text.split(';').map((part) => part.trim());
  return [coding, /^q=[01](?:\.\d{0,3})?$/.test(weight) ? Number(weight.slice('q='.length)) : 0];
}

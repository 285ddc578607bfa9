/**
 * Whether an `Accept-Encoding` takes gzip (RFC 9110, section 12.5.3): by its name, in either case, or else by `*`, and
 * with a weight above 0. Where the header cannot be read it does not: what is not encoded is always right.
 */
export function takesGzip(acceptEncoding: string): boolean {
  const weights = new Map(acceptEncoding.toLowerCase().split(',').map(readWeight));
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}

function readWeight(text: string): [coding: string, weight: number] {
  const [coding = '', weight = 'q=1'] = text.split(';').map((part) => part.trim());
  return [coding, /^q=[01](?:\.\d{0,3})?$/.test(weight) ? Number(weight.slice('q='.length)) : 0];
}

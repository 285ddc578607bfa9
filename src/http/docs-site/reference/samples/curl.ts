import { stringifyExactJson } from '../../../../exact-json.ts';
import { type RequestExample, writeTarget } from './request-example.ts';

/** Writes a request as a curl command. The key is in the environment variable `ANIMAL_STORE_KEY`. */
export function writeCurl(request: RequestExample, baseUrl: string): string {
  const { method, body, isIdempotent } = request;
  const isUsual = method === (body === null ? 'GET' : 'POST');
  const parts = [
    `curl -sS${isUsual ? '' : ` -X ${method}`} ${quote(baseUrl + writeTarget(request))}`,
    '-H "Authorization: Bearer $ANIMAL_STORE_KEY"',
    isIdempotent && '-H "Idempotency-Key: $(openssl rand -hex 16)"',
    body && `-H 'Content-Type: ${body.type}'`,
    body && `-d ${quote(stringifyExactJson(body.value))}`,
  ];
  return parts.filter((part) => typeof part === 'string').join(' \\\n  ');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

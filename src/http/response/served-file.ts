import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { computeEtag } from '../../etag.ts';
import { type Answer, type HeaderTexts, listHeaders } from './answer.ts';

/** A text that is ready to send, plain and compressed. Each form has its own `ETag`. */
export interface ServedFile {
  readonly plain: Answer;
  readonly gzipped: Answer;
}

const compress = promisify(gzip);

/** `headers` are sent besides those that describe the body. */
export async function makeServedFile(text: string, type: string, headers: HeaderTexts): Promise<ServedFile> {
  const make = (body: Buffer, encoding: HeaderTexts): Answer => {
    const etag = computeEtag(body);
    const bodyHeaders = { 'content-type': type, ...encoding, 'content-length': String(body.length) };
    return {
      status: 200,
      headers: listHeaders({ vary: 'Accept-Encoding', ...headers, etag }),
      bodyHeaders: listHeaders(bodyHeaders),
      body,
      etag,
    };
  };
  const plain = Buffer.from(text);
  return { plain: make(plain, {}), gzipped: make(await compress(plain), { 'content-encoding': 'gzip' }) };
}

/** Matches an `Accept-Encoding` that lists gzip with a weight above 0. `*` does not count: a plain form is always right. */
const gzipAccepted = /(?:^|,)\s*gzip\s*(?:$|,|;\s*q=(?!0(?:\.0*)?\s*(?:$|,)))/i;

export function chooseForm({ plain, gzipped }: ServedFile, acceptEncoding = ''): Answer {
  return gzipAccepted.test(acceptEncoding) ? gzipped : plain;
}

/** Static files for browsers, one of which is `icon.svg`. */
export interface Assets {
  /** A part of the address of each file, which changes with any file. So browsers may cache the files forever. */
  readonly version: string;
  readonly files: ReadonlyMap<string, ServedFile>;
}

const versionLength = 12;
const assetTypes = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  // Its types are stripped.
  ts: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
};
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#0b6e4f"/><g fill="#fff"><ellipse cx="8" cy="10.6" rx="3" ry="2.4"/><circle cx="4" cy="7.2" r="1.3"/><circle cx="6.6" cy="4.9" r="1.3"/><circle cx="9.4" cy="4.9" r="1.3"/><circle cx="12" cy="7.2" r="1.3"/></g></svg>';

export async function makeAssets(own: Readonly<Record<string, string>>): Promise<Assets> {
  const texts = Object.entries({ ...own, 'icon.svg': icon });
  const version = hash('sha256', JSON.stringify(texts), 'hex').slice(0, versionLength);
  const headers = { 'cache-control': 'public, max-age=31536000, immutable' };
  const files = new Map<string, ServedFile>();
  for (const [name, text] of texts) {
    const type = assetTypes[name.replace(/^.*\./, '') as keyof typeof assetTypes];
    files.set(name, await makeServedFile(text, type, headers));
  }
  return { version, files };
}

/** Returns a function that calls `open` once and then returns the same result. After a failure, it tries again. */
export function openOnce<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | null = null;
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
}

/** Returns a policy that allows only our scripts, styles and images, and calls to this service and to `origins`. */
export function pagePolicy(origins: readonly string[] = []): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    ["connect-src 'self'", ...origins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

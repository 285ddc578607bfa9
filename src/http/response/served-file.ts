import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { computeEtag } from '../../etag.ts';
import { takesGzip } from '../request/preferences.ts';
import { type Answer, type HeaderTexts, listHeaders } from './answer.ts';

/** A text that is ready to send, plain and compressed. Each form has its own `ETag`. */
export interface ServedFile {
  readonly plain: Answer;
  readonly gzipped: Answer;
}

const compress = promisify(gzip);

/** Makes a file to serve. `headers` are sent besides those that describe the body. */
export async function makeServedFile(text: string, type: string, headers: HeaderTexts): Promise<ServedFile> {
  const plain = Buffer.from(text);
  return {
    plain: makeFileAnswer(plain, { 'content-type': type }, headers),
    gzipped: makeFileAnswer(
      await compress(plain),
      { 'content-type': type, 'content-encoding': 'gzip' },
      headers,
    ),
  };
}

function makeFileAnswer(body: Buffer, bodyHeaders: HeaderTexts, headers: HeaderTexts): Answer {
  const etag = computeEtag(body);
  return {
    status: 200,
    headers: listHeaders({ ...headers, vary: 'Accept-Encoding', etag }),
    bodyHeaders: listHeaders({ ...bodyHeaders, 'content-length': String(body.length) }),
    body,
    etag,
  };
}

/** Returns the form of a file that a client accepts. */
export function chooseForm({ plain, gzipped }: ServedFile, acceptEncoding = ''): Answer {
  return takesGzip(acceptEncoding) ? gzipped : plain;
}

/**
 * Returns a function that calls `open` once and then returns the same result. After a failure, the next call tries
 * again.
 */
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

/**
 * Returns the Content-Security-Policy of a page.
 *
 * - Allowed: our scripts, styles and images, images of the scheme `data:` if `hasDataImages`, and calls to this service
 *   and to `origins`.
 * - Forbidden: inline code, all other sources, forms and frames.
 */
export function pagePolicy(hasDataImages: boolean, origins: readonly string[] = []): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    hasDataImages ? "img-src 'self' data:" : "img-src 'self'",
    ["connect-src 'self'", ...origins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

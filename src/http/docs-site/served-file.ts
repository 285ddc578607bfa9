import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { computeEtag } from '../../etag.ts';
import { takesGzip } from '../request/preferences.ts';
import { type Answer, type HeaderTexts, listHeaders } from '../response/answer.ts';

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

import type { AddressInfo } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import { takesGzip } from './accept-encoding.ts';
import { type Answer, makeAnswer, sendAnswer } from './conditional.ts';
import { type Assets, readAssets } from './docs-assets.ts';
import { guides, renderGuide } from './docs-guides.ts';
import { reference, renderPage } from './docs-layout.ts';

/**
 * What a page may do: run our scripts, use our styles, call this service, also where clients see it under another
 * origin. Nothing inline, nothing from elsewhere, no frame around it. Images from `data:` are the icons inside the
 * style sheets.
 */
function listPageHeaders(publicUrl: string | null) {
  const origins = publicUrl === null ? [] : [new URL(publicUrl).origin];
  const contentSecurityPolicy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...origins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': contentSecurityPolicy,
    'referrer-policy': 'no-referrer',
  };
}

interface Site {
  /** The pages by their addresses below `/docs/`; the reference is the empty one. */
  readonly pages: ReadonlyMap<string, Answer>;
  readonly assets: Assets;
}

/**
 * Serves the reference at `/docs` and the guides below it, without a key. They are made at the first visit, so that
 * they cost the start nothing.
 */
export function serveDocs(server: FastifyInstance, publicUrl: string | null): void {
  const options = { schema: { hide: true }, config: { isPublic: true } };
  let site: Promise<Site> | null = null;

  function openSite(): Promise<Site> {
    site ??= makeSite(publicUrl, findBaseUrl(server)).catch((error: unknown) => {
      site = null;
      throw error;
    });
    return site;
  }

  server.get('/docs', options, async (request, reply) => {
    const { pages } = await openSite();
    return sendPage(request, reply, pages.get(reference.name));
  });

  server.get<{ Params: { guide: string } }>('/docs/:guide', options, async (request, reply) => {
    const { guide } = request.params;
    // The addresses on a page are relative to where it belongs.
    if (guide === '') return reply.redirect('../docs', 301);
    const { pages } = await openSite();
    return sendPage(request, reply, pages.get(guide));
  });

  server.get<{ Params: { file: string } }>('/docs/assets/:file', options, async (request, reply) => {
    const { assets } = await openSite();
    return sendAsset(request, reply, assets, request.params.file);
  });
}

/** Where the service listens, as the machine that it runs on reaches it. */
function findBaseUrl({ server }: FastifyInstance): string {
  const { address, family, port } = server.address() as AddressInfo;
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  return `http://${family === 'IPv6' && host === address ? `[${host}]` : host}:${port}/v1`;
}

async function makeSite(publicUrl: string | null, ownUrl: string): Promise<Site> {
  const assets = await readAssets();
  const headers = listPageHeaders(publicUrl);
  const baseUrl = publicUrl ?? ownUrl;
  const contents = guides.map(async (guide) => ({ ...guide, guide: await renderGuide(guide, baseUrl) }));
  const pages = [reference, ...(await Promise.all(contents))].map(
    (content) => [content.name, makePage(renderPage(content, assets), headers)] as const,
  );
  return { pages: new Map(pages), assets };
}

function makePage(html: string, headers: Readonly<Record<string, string>>): Answer {
  const answer = makeAnswer(html);
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

function sendPage(request: FastifyRequest, reply: FastifyReply, page: Answer | undefined): FastifyReply {
  if (page === undefined) throw new AppError('not_found', 'there is no such page');
  return sendAnswer(request, reply, page);
}

/** An asset never changes under its name, so it is kept for ever where it has come once. */
function sendAsset(request: FastifyRequest, reply: FastifyReply, assets: Assets, name: string): FastifyReply {
  const asset = assets.find(name);
  if (asset === undefined) throw new AppError('not_found', 'there is no such file');
  reply
    .header('content-type', asset.type)
    .header('cache-control', 'public, max-age=31536000, immutable')
    .header('vary', reply.hasHeader('vary') ? 'Origin, Accept-Encoding' : 'Accept-Encoding');
  if (!takesGzip(request.headers['accept-encoding'] ?? '')) return reply.send(asset.plain);
  return reply.header('content-encoding', 'gzip').send(asset.gzipped);
}

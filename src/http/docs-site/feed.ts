import { marked } from 'marked';
import type { Page } from './frame.ts';
import { toAnchor } from './markdown.ts';
import { html } from './markup.ts';

/** Matches a dated release of the changelog: its heading, its date and its changes. */
const releases = /^## (.+ – (\d{4}-\d{2}-\d{2}))$((?:\n(?!## ).*)*)/gm;

/** Writes the dated releases of the changelog as an Atom feed (RFC 4287), newest first. */
export function writeFeed(pages: readonly Page[], docsUrl: string): string {
  const changelog = pages.find(({ path }) => path === 'changelog');
  const address = `${docsUrl}/changelog`;
  const found = [...(changelog?.markdown ?? '').matchAll(releases)];
  const entries = found.map(([, heading = '', date, changes = '']) => {
    const link = `${address}#${toAnchor(heading)}`;
    return html`<entry>
<id>${link}</id>
<title>${heading}</title>
<link href="${link}"/>
<updated>${date}T00:00:00Z</updated>
<content type="html">${marked.parse(changes, { async: false })}</content>
</entry>
`;
  });
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:base="${docsUrl}/" xml:lang="en">
<id>${address}</id>
<title>Animal Store: ${changelog?.title}</title>
<link href="${address}"/>
<link rel="self" type="application/atom+xml" href="${docsUrl}/changelog.atom"/>
<author><name>Animal Store</name></author>
<updated>${found[0]?.[2]}T00:00:00Z</updated>
${entries}</feed>
`.markup;
}

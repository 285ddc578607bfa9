import { marked } from 'marked';
import type { Page } from './frame.ts';
import { toAnchor } from './markdown.ts';
import { html, type Markup } from './markup.ts';

const dated = / – (\d{4}-\d{2}-\d{2})$/;

/**
 * Writes the dated releases of the changelog as an Atom feed (RFC 4287), newest first. `docsUrl` is the address of the
 * documentation. A release without a date is not in the feed.
 */
export function writeFeed(changelog: Page, docsUrl: string): string {
  const address = `${docsUrl}/${changelog.path}`;
  const releases = changelog.markdown.split(/^## /m).slice(1);
  const entries = releases.flatMap((release): [updated: string, entry: Markup][] => {
    const [heading = '', ...changes] = release.split('\n');
    const date = dated.exec(heading)?.[1];
    if (date === undefined) return [];
    const link = `${address}#${toAnchor(heading)}`;
    const updated = `${date}T00:00:00Z`;
    const entry = html`<entry>
<id>${link}</id>
<title>${heading}</title>
<link href="${link}"/>
<updated>${updated}</updated>
<content type="html">${marked.parse(changes.join('\n'), { async: false })}</content>
</entry>
`;
    return [[updated, entry]];
  });
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:base="${docsUrl}/" xml:lang="en">
<id>${address}</id>
<title>Animal Store: ${changelog.title}</title>
<link href="${address}"/>
<link rel="self" type="application/atom+xml" href="${docsUrl}/changelog.atom"/>
<author><name>Animal Store</name></author>
<updated>${entries[0]?.[0]}</updated>
${entries.map(([, entry]) => entry)}</feed>
`.markup;
}

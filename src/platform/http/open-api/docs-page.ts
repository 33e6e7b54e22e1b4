import type { OpenAPIObject } from '@nestjs/swagger';
import type { Request } from 'express';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { WholeBody } from '../answers/whole-body.js';
import { curlLine } from '../../common/text/request-code.js';

/** Where the files of Swagger UI are, relative to the page. */
const FILES = './docs';
const EXAMPLE = '{"model":"vendor/model","messages":[{"role":"user","content":"Hello!"}]}';

/**
 * The page of `/api/docs`: Swagger UI below a heading with a way back, and a command that shows a stream as it arrives, which
 * Swagger UI cannot. Without JavaScript the page lists the operations.
 */
export function docsPage({ info, paths }: OpenAPIObject, request: Request): string {
  const origin = `${request.protocol}://${request.get('host') ?? ''}`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API · ${escaped(info.title)}</title>
<link rel="icon" href="${FILES}/favicon-32x32.png">
<link rel="stylesheet" href="${FILES}/swagger-ui.css">
<script src="${FILES}/color-scheme.js"></script>
<style>${STYLE}</style>
</head>
<body>
<header>
<p><a href="/">Back to ${escaped(info.title)}</a></p>
<p>Swagger UI shows a stream when the stream has ended. To see the chunks as they arrive, use curl:</p>
<pre tabindex="0">${escaped(curlLine({ origin, request: EXAMPLE }))}</pre>
</header>
<noscript><main>
<h1>API of ${escaped(info.title)}</h1>
<p>The interactive description needs JavaScript. The same description as a file: <a href="/api/openapi.json">openapi.json</a>.</p>
<ul>
${operationsOf(paths).join('\n')}
</ul>
</main></noscript>
<div id="swagger-ui"></div>
<script src="${FILES}/swagger-ui-bundle.js"></script>
<script src="${FILES}/swagger-ui-init.js"></script>
</body>
</html>
`;
}

/** Swagger UI has dark colors below a class. Its policy allows no script in the page. The pages of the service keep the theme. */
const COLOR_SCHEME_SCRIPT = `const dark = matchMedia('(prefers-color-scheme: dark)');
const kept = () => { try { return localStorage.getItem('theme'); } catch { return null; } };
const apply = () => {
  const theme = kept() ?? 'system';
  const { classList, style } = document.documentElement;
  classList.toggle('dark-mode', theme === 'dark' || (theme === 'system' && dark.matches));
  style.colorScheme = theme === 'system' ? '' : theme;
};
dark.addEventListener('change', apply);
addEventListener('storage', apply);
apply();
`;

/** Deep links put links into buttons, which not all users can reach. The other layout has a bar for other documents. */
const INIT_SCRIPT = `SwaggerUIBundle({ url: '/api/openapi.json', dom_id: '#swagger-ui', deepLinking: false, layout: 'BaseLayout' });
`;

const JAVASCRIPT = 'text/javascript; charset=utf-8';

interface DocsFile {
  readonly type: string;
  readonly body: WholeBody;
}

/** The files that the page loads, by name. */
export function docsFiles(): ReadonlyMap<string, DocsFile> {
  // Swagger UI is a package of the library, and may be below it.
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('@nestjs/swagger'));
  const ofSwagger = (name: string) => readFileSync(resolve(`swagger-ui-dist/${name}`));
  const file = (type: string, content: Buffer | string) => ({ type, body: new WholeBody(Buffer.from(content)) });
  return new Map([
    ['swagger-ui.css', file('text/css; charset=utf-8', ofSwagger('swagger-ui.css'))],
    ['favicon-32x32.png', file('image/png', ofSwagger('favicon-32x32.png'))],
    ['swagger-ui-bundle.js', file(JAVASCRIPT, ofSwagger('swagger-ui-bundle.js'))],
    ['swagger-ui-init.js', file(JAVASCRIPT, INIT_SCRIPT)],
    ['color-scheme.js', file(JAVASCRIPT, COLOR_SCHEME_SCRIPT)],
  ]);
}

// Swagger UI has colors with too little contrast, and is wider than a phone.
const STYLE = `
:root { color-scheme: light dark; }
body { margin: 0; background: light-dark(#fff, #1c2022); color: light-dark(#3b4151, #e4e6e6); font: 1rem/1.5 sans-serif; }
header, noscript main { max-width: 1460px; margin: 0 auto; padding: 1rem 20px 0; }
header p { margin: 0 0 0.5rem; }
header pre { margin: 0; padding: 0.75rem 1rem; overflow-x: auto; border-radius: 0.5rem; background: light-dark(#f0f2f5, #2b3034); }
header a, noscript a { color: light-dark(#0b5ea8, #8fc3f5); }
@media (prefers-reduced-motion: reduce) {
.swagger-ui * { transition: none !important; }
}
html:not(.dark-mode) {
.swagger-ui .info .title small pre.version { background: #4d5564; }
.swagger-ui .info .title small.version-stamp pre.version { background: #3d5a00; }
.swagger-ui .btn.authorize { border-color: #14653f; color: #14653f; }
.swagger-ui .btn.authorize svg { fill: #14653f; }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #14653f; }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #0b5ea8; }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #a3323c; }
.swagger-ui :is(.opblock.opblock-put, .opblock.opblock-patch) .opblock-summary-method { background: #6b4b00; }
.swagger-ui :is(table.headers td, .parameter__type, .parameter__in, .response-col_links, .opblock-description-wrapper p) { color: #3b4151; }
.swagger-ui .parameter__name.required span, .swagger-ui .parameter__name.required::after { color: #a3323c; }
.swagger-ui .responses-inner :is(h4, h5), .swagger-ui .tab li { color: #3b4151; }
.swagger-ui .info .url { color: #3b4151; }
.swagger-ui button.json-schema-2020-12-expand-deep-button { color: #3b4151; }
.swagger-ui .response-control-media-type__accept-message { color: #14653f; }
}
html.dark-mode .swagger-ui table.headers td { color: #e4e6e6; }
@media (max-width: 48rem) {
.swagger-ui :is(.opblock-summary-path, .opblock-summary-description) { overflow-wrap: anywhere; word-break: normal; }
.swagger-ui .opblock-body { overflow-x: auto; }
.swagger-ui .info .title { overflow-wrap: anywhere; }
}
`;

function operationsOf(paths: OpenAPIObject['paths']): string[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations as Record<string, { summary?: string }>).map(
      ([method, { summary = '' }]) =>
        `<li><code>${escaped(`${method.toUpperCase()} ${path}`)}</code>: ${escaped(summary)}</li>`,
    ),
  );
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

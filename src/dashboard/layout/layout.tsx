import { assetPath } from '../assets/assets.js';
import type { Page } from '../page.js';
import { Header, type HeaderProps } from './header.js';

const SERVICE_NAME = 'Chat Streaming Service';

interface LayoutProps extends Omit<HeaderProps, 'section'> {
  readonly page: Page;
  /** Returns the path of a file in `style` or `script`. */
  pathOf(asset: string): string;
}

/** The HTML document around the content of a page. All pages share this layout. */
export function Layout({ page, pathOf, ...header }: LayoutProps) {
  const { title, content, section, script, style, width, leadsTo } = page;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · ${SERVICE_NAME}`}</title>
        {leadsTo === undefined ? null : <meta http-equiv="refresh" content={`0; url=${leadsTo}`} />}
        <link rel="icon" type="image/svg+xml" href={assetPath('icon.svg')} />
        <link rel="stylesheet" href={assetPath('pico.css')} />
        <link rel="stylesheet" href={assetPath('app.css')} />
        {style === undefined ? null : <link rel="stylesheet" href={pathOf(style)} />}
        {script === undefined ? null : <script type="module" src={pathOf(script)} />}
      </head>
      <body>
        <a class="skip-link" href="#content">
          Skip to content
        </a>
        <Header section={section} {...header} />
        <main id="content" class={`container ${width ?? ''}`} tabIndex={-1}>
          {content}
        </main>
      </body>
    </html>
  );
}

// A script and no module, so that it runs before the page is shown. The stylesheets read the attribute.
{
  const NAME = 'theme';
  const CHOICES = ['system', 'light', 'dark'];

  /** The theme that this browser keeps. A browser that forbids storage has that of the system. */
  const kept = () => {
    try {
      return CHOICES.find((choice) => choice === localStorage.getItem(NAME)) ?? 'system';
    } catch {
      return 'system';
    }
  };
  let theme = kept();

  const show = () => {
    const root = document.documentElement;
    if (theme === 'system') root.removeAttribute('data-theme');
    else root.setAttribute('data-theme', theme);
    // The browser paints the canvas in this scheme until it has the stylesheets.
    const scheme = document.querySelector('meta[name="color-scheme"]');
    scheme?.setAttribute('content', theme === 'system' ? 'light dark' : theme);
    const button = document.getElementById(NAME);
    const text = button?.querySelector('span');
    if (button === null || text == null) return;
    button.title = text.textContent = `Theme: ${theme}`;
  };

  const chooseNext = () => {
    theme = CHOICES[(CHOICES.indexOf(theme) + 1) % CHOICES.length] ?? 'system';
    try {
      localStorage.setItem(NAME, theme);
    } catch {
      // The choice then ends with the page.
    }
    show();
  };

  show();
  document.addEventListener('DOMContentLoaded', () => {
    document.getElementById(NAME)?.addEventListener('click', chooseNext);
    show();
  });
  // Another tab has chosen.
  addEventListener('storage', ({ key }) => {
    if (key !== NAME) return;
    theme = kept();
    show();
  });
}

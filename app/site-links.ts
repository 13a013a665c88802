/** The part of the site map that every browser loads. */

export type PageLink = { path: string; label: string };

export const home = { path: "/", label: "Home" };
export const services = { path: "/services", label: "Services" };
export const about = { path: "/about", label: "About" };
export const faq = { path: "/resources/faq", label: "FAQ" };
export const feeds = { path: "/resources/feeds", label: "Feeds Update" };
export const blog = { path: "/resources/blog", label: "Blog" };
export const contact = { path: "/contact", label: "Contact" };
export const careers = { path: "/careers", label: "Careers" };
export const login = { path: "/login", label: "Client Login" };
export const privacy = { path: "/privacy", label: "Privacy Policy" };
export const terms = { path: "/terms", label: "Terms of Service" };
export const legal = { path: "/legal", label: "Legal Notice" };
export const additionalInfo = { path: "/additional-info", label: "Additional Info" };
export const cookieSettings = { path: "/cookie-settings", label: "Cookie Settings" };

export const mainLinks: PageLink[] = [home, services, about];
export const resourceLinks: PageLink[] = [faq, feeds, blog];
export const footerLinks: PageLink[] = [contact, careers, login, privacy, terms, legal, additionalInfo, cookieSettings];

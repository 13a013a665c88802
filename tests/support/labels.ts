/** UI labels that several browser tests use. For labels from the specification, browser tests repeat the text. */
export const labels = {
  // Labels of the whole site
  useLightTheme: "Use the light theme",
  pauseMotion: "Pause all animations",
  notifications: "Notifications (F8)",
  errorSummary: "There is a problem",
  connectionLost: "Connection lost",
  noConnection: "No connection",
  continuesByItself: "when you are back online",
  typedTextStays: "Your text is still here. Send the form again.",
  phoneNumber: "+254 700 000 001",
  industries: "The ten industries",
  nextIndustries: "Next industries",
  partners: "Logos of our partners",
  story: "Scenes from our story",
  nextScene: "Next scene",
  functionalCookies: "Functional",
  marketingCookies: "Marketing & Targeting",
  // Labels of email drafts
  prepareEmail: "Continue to email",
  emailReady: "Your email has not been sent yet",
  openEmailApp: "Open your email app",
  phone: "Phone",
  trackingNumber: "Tracking number",
  requestUpdate: "Request an update",
  // Labels of login and account
  logIn: "Log in",
  signedOut: "You are signed out",
  setUp2fa: "Set up 2FA",
  enable2fa: "Enable 2FA",
  openAuthenticator: "Open your authenticator app",
  remove: "Remove",
  removeLink: /^Remove/,
  authenticatorRemoved: "Authenticator app removed",
  // Shipments
  shipmentName: "Shipment name",
  cancel: "Cancel",
  findShipment: "Find a shipment",
  find: "Find",
  share: "Share",
  makeLink: "Create share link",
  linkUntil: /^Share link, valid until/,
  connectionGone: "No connection.",
  uploaded: "Uploaded. We are checking your file",
  // Labels of the desk
  deskSearch: "Search shipments and clients",
  reason: "Reason",
  noteToClient: "Note to the client",
  correctStage: "Correct the stage",
  correctedStage: "New stage",
} as const;

/** Returns the end of the error message about a text that is one character too long. */
export const describeCut = (maxLength: number) =>
  `You wrote ${(maxLength + 1).toLocaleString("en")} characters. It is possible that the field shows only the first ${maxLength.toLocaleString("en")} characters.`;

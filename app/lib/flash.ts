/** A toast of section 2 of the specification; without script a banner at the top of the page. */
export type Toast = { title: string; description?: string; variant: "default" | "destructive" };

/** Said when the backend gives no reason. */
export const somethingWentWrong = "Something went wrong";

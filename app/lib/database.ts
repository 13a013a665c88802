// Made from supabase/migrations by npm run types, as `supabase gen types` does: not to be edited.
export type Json =
  | string
  | number
  | boolean
  | null
  | { [key: string]: Json | undefined }
  | Json[]

export type Database = {
  public: {
    Tables: {
      acts: {
        Row: {
          account: string | null
          act: string
          after: Json | null
          at: string
          before: Json | null
          by_name: string
          colleague: string | null
          document: string | null
          id: string
          reason: string | null
          request: string | null
          shipment: string | null
        }
        Insert: {
          account?: string | null
          act: string
          after?: Json | null
          at?: string
          before?: Json | null
          by_name: string
          colleague?: string | null
          document?: string | null
          id?: string
          reason?: string | null
          request?: string | null
          shipment?: string | null
        }
        Update: {
          account?: string | null
          act?: string
          after?: Json | null
          at?: string
          before?: Json | null
          by_name?: string
          colleague?: string | null
          document?: string | null
          id?: string
          reason?: string | null
          request?: string | null
          shipment?: string | null
        }
        Relationships: []
      }
      announcements: {
        Row: {
          begun_at: string
          ended_at: string | null
          id: string
          text: string
        }
        Insert: {
          begun_at?: string
          ended_at?: string | null
          id?: string
          text: string
        }
        Update: {
          begun_at?: string
          ended_at?: string | null
          id?: string
          text?: string
        }
        Relationships: []
      }
      charges: {
        Row: {
          amount: number
          currency: string
          due_on: string | null
          item: string
          note: string | null
          paid_at: string | null
          shipment_id: string
          version: number
        }
        Insert: {
          amount: number
          currency: string
          due_on?: string | null
          item: string
          note?: string | null
          paid_at?: string | null
          shipment_id: string
          version?: number
        }
        Update: {
          amount?: number
          currency?: string
          due_on?: string | null
          item?: string
          note?: string | null
          paid_at?: string | null
          shipment_id?: string
          version?: number
        }
        Relationships: [
          {
            foreignKeyName: "charges_shipment_id_fkey"
            columns: ["shipment_id"]
            isOneToOne: false
            referencedRelation: "shipments"
            referencedColumns: ["id"]
          },
        ]
      }
      client_ids: {
        Row: {
          claimed_at: string | null
          claimed_by: string | null
          client_id: string
          created_at: string
          had_turn: boolean
          issued_for: string | null
          password_proven_at: string | null
          request: string | null
          sent_to: string | null
          used_at: string | null
          used_with: string | null
        }
        Insert: {
          claimed_at?: string | null
          claimed_by?: string | null
          client_id?: string
          created_at?: string
          had_turn?: boolean
          issued_for?: string | null
          password_proven_at?: string | null
          request?: string | null
          sent_to?: string | null
          used_at?: string | null
          used_with?: string | null
        }
        Update: {
          claimed_at?: string | null
          claimed_by?: string | null
          client_id?: string
          created_at?: string
          had_turn?: boolean
          issued_for?: string | null
          password_proven_at?: string | null
          request?: string | null
          sent_to?: string | null
          used_at?: string | null
          used_with?: string | null
        }
        Relationships: []
      }
      colleagues: {
        Row: {
          account: string
          created_at: string
          name: string
          removed_at: string | null
          role: string
        }
        Insert: {
          account: string
          created_at?: string
          name: string
          removed_at?: string | null
          role: string
        }
        Update: {
          account?: string
          created_at?: string
          name?: string
          removed_at?: string | null
          role?: string
        }
        Relationships: []
      }
      documents: {
        Row: {
          file_name: string | null
          file_size: number | null
          id: string
          media_type: string | null
          name: string
          sent_back_at: string | null
          sent_back_reason: string | null
          sha256: string | null
          shipment_id: string
          storage_path: string | null
          storage_version: string | null
          uploaded: boolean
          uploaded_at: string | null
          user_id: string
          verified: boolean
          version: number
        }
        Insert: {
          file_name?: string | null
          file_size?: number | null
          id?: string
          media_type?: string | null
          name: string
          sent_back_at?: string | null
          sent_back_reason?: string | null
          sha256?: string | null
          shipment_id: string
          storage_path?: string | null
          storage_version?: string | null
          uploaded?: boolean
          uploaded_at?: string | null
          user_id: string
          verified?: boolean
          version?: number
        }
        Update: {
          file_name?: string | null
          file_size?: number | null
          id?: string
          media_type?: string | null
          name?: string
          sent_back_at?: string | null
          sent_back_reason?: string | null
          sha256?: string | null
          shipment_id?: string
          storage_path?: string | null
          storage_version?: string | null
          uploaded?: boolean
          uploaded_at?: string | null
          user_id?: string
          verified?: boolean
          version?: number
        }
        Relationships: [
          {
            foreignKeyName: "documents_shipment_id_fkey"
            columns: ["shipment_id"]
            isOneToOne: false
            referencedRelation: "shipments"
            referencedColumns: ["id"]
          },
        ]
      }
      notices: {
        Row: {
          account: string
          attempts: number
          claimed_at: string | null
          due_at: string
          failed_at: string | null
          id: string
          kind: string
          made_at: string
          reason: string | null
          sent_at: string | null
          shipment_id: string
          what: string
        }
        Insert: {
          account: string
          attempts?: number
          claimed_at?: string | null
          due_at?: string
          failed_at?: string | null
          id?: string
          kind: string
          made_at?: string
          reason?: string | null
          sent_at?: string | null
          shipment_id: string
          what: string
        }
        Update: {
          account?: string
          attempts?: number
          claimed_at?: string | null
          due_at?: string
          failed_at?: string | null
          id?: string
          kind?: string
          made_at?: string
          reason?: string | null
          sent_at?: string | null
          shipment_id?: string
          what?: string
        }
        Relationships: [
          {
            foreignKeyName: "notices_shipment_id_fkey"
            columns: ["shipment_id"]
            isOneToOne: false
            referencedRelation: "shipments"
            referencedColumns: ["id"]
          },
        ]
      }
      shipments: {
        Row: {
          acted_at: string
          arrival_place: string | null
          arrived_on: string | null
          awb: string | null
          changed_at: string
          container_size: number | null
          created_at: string
          free_until: string | null
          id: string
          name: string
          request_id: string
          retain_until: string
          stage: number
          status: string
          turn: string
          turn_since: string
          user_id: string
          version: number
        }
        Insert: {
          acted_at?: string
          arrival_place?: string | null
          arrived_on?: string | null
          awb?: string | null
          changed_at?: string
          container_size?: number | null
          created_at?: string
          free_until?: string | null
          id?: string
          name: string
          request_id?: string
          retain_until?: string
          stage?: number
          status?: string
          turn?: string
          turn_since?: string
          user_id: string
          version?: number
        }
        Update: {
          acted_at?: string
          arrival_place?: string | null
          arrived_on?: string | null
          awb?: string | null
          changed_at?: string
          container_size?: number | null
          created_at?: string
          free_until?: string | null
          id?: string
          name?: string
          request_id?: string
          retain_until?: string
          stage?: number
          status?: string
          turn?: string
          turn_since?: string
          user_id?: string
          version?: number
        }
        Relationships: []
      }
      tracking_events: {
        Row: {
          created_at: string
          id: string
          location: string | null
          note: string | null
          shipment_id: string
          status: string
        }
        Insert: {
          created_at?: string
          id?: string
          location?: string | null
          note?: string | null
          shipment_id: string
          status: string
        }
        Update: {
          created_at?: string
          id?: string
          location?: string | null
          note?: string | null
          shipment_id?: string
          status?: string
        }
        Relationships: [
          {
            foreignKeyName: "tracking_events_shipment_id_fkey"
            columns: ["shipment_id"]
            isOneToOne: false
            referencedRelation: "shipments"
            referencedColumns: ["id"]
          },
        ]
      }
      undelivered_mails: {
        Row: {
          account: string | null
          at: string
          client_id: string | null
          dealt_with_at: string | null
          id: string
          kind: string
          sent_to: string
        }
        Insert: {
          account?: string | null
          at?: string
          client_id?: string | null
          dealt_with_at?: string | null
          id?: string
          kind: string
          sent_to: string
        }
        Update: {
          account?: string | null
          at?: string
          client_id?: string | null
          dealt_with_at?: string | null
          id?: string
          kind?: string
          sent_to?: string
        }
        Relationships: [
          {
            foreignKeyName: "undelivered_mails_client_id_fkey"
            columns: ["client_id"]
            isOneToOne: false
            referencedRelation: "client_ids"
            referencedColumns: ["client_id"]
          },
        ]
      }
    }
    Views: {
      [_ in never]: never
    }
    Functions: {
      admit_sign_up: {
        Args: { client_id: string; email: string }
        Returns: boolean
      }
      announce: {
        Args: { by_name?: string; request?: string; text: string }
        Returns: undefined
      }
      ask_erasure: { Args: { wanted: boolean }; Returns: undefined }
      ask_password_link: {
        Args: { account: string; by_name?: string }
        Returns: string
      }
      begin_email_change: {
        Args: { account: string; email: string }
        Returns: string
      }
      begin_erasure: {
        Args: { account: string; by_name?: string; reason: string }
        Returns: string
      }
      change_role: {
        Args: { account: string; by_name?: string; role: string }
        Returns: undefined
      }
      change_shipment: {
        Args: { awb: string; name: string; seen: number; shipment_id: string }
        Returns: undefined
      }
      claim_mail: {
        Args: { request: string; sent_to: string }
        Returns: boolean
      }
      claim_notices: { Args: { most?: number }; Returns: Json }
      close_account: {
        Args: { account: string; by_name?: string; reason: string }
        Returns: undefined
      }
      correct_stage: {
        Args: {
          by_name?: string
          reason: string
          request?: string
          seen?: number
          shipment_id: string
          stage: number
        }
        Returns: Json
      }
      delete_past_acts: { Args: Record<PropertyKey, never>; Returns: number }
      desk_clients: {
        Args: { opened?: string; page?: number; q?: string }
        Returns: Json
      }
      desk_colleagues: { Args: Record<PropertyKey, never>; Returns: Json }
      desk_invitations: { Args: { page?: number }; Returns: Json }
      desk_log: {
        Args: {
          account?: string
          before?: string
          before_id?: string
          day?: string
          page?: number
          shipment?: string
          what?: string
          who?: string
        }
        Returns: Json
      }
      desk_moved: { Args: { shipments: string[] }; Returns: Json }
      desk_shipments: {
        Args: {
          opened?: string
          page?: number
          q?: string
          stage?: number
          to_check?: boolean
          turn?: string
        }
        Returns: Json
      }
      desk_shipments_after: {
        Args: {
          before?: string
          before_id?: string
          q?: string
          stage?: number
          to_check?: boolean
          turn?: string
        }
        Returns: Json
      }
      desk_today: { Args: Record<PropertyKey, never>; Returns: Json }
      dismiss_undelivered: {
        Args: { by_name?: string; mail: string }
        Returns: undefined
      }
      email_change: { Args: { token: string }; Returns: Json }
      end_announcement: { Args: { by_name?: string }; Returns: undefined }
      end_share: { Args: { id: string }; Returns: undefined }
      find_account: { Args: { email: string }; Returns: string }
      forget_email: { Args: { email: string }; Returns: undefined }
      forget_email_change: { Args: { account: string }; Returns: undefined }
      forget_gone_accounts: {
        Args: Record<PropertyKey, never>
        Returns: number
      }
      forget_links: { Args: { account: string }; Returns: undefined }
      forget_past_links: { Args: Record<PropertyKey, never>; Returns: number }
      invite_colleague: {
        Args: {
          by_name?: string
          email: string
          name: string
          request?: string
          role: string
        }
        Returns: Json
      }
      issue_client_ids: {
        Args: {
          by_name?: string
          how_many?: number
          issued_for?: string
          request?: string
          sent_to?: string
        }
        Returns: {
          claimed_at: string | null
          claimed_by: string | null
          client_id: string
          created_at: string
          had_turn: boolean
          issued_for: string | null
          password_proven_at: string | null
          request: string | null
          sent_to: string | null
          used_at: string | null
          used_with: string | null
        }[]
        SetofOptions: {
          from: "*"
          to: "client_ids"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      issue_password_link: {
        Args: { account: string; hours: number }
        Returns: string
      }
      keep_shipment: {
        Args: { by_name?: string; day: string; shipment_id: string }
        Returns: string
      }
      kept_parts: { Args: { account?: string; before?: string }; Returns: Json }
      list_colleagues: {
        Args: Record<PropertyKey, never>
        Returns: {
          account: string
          email: string
          has_come: boolean
          name: string
          role: string
        }[]
      }
      make_share: {
        Args: { id: string; shipment_id: string; token_hash: string }
        Returns: undefined
      }
      mark_charge: {
        Args: {
          by_name?: string
          item: string
          paid: boolean
          reason?: string
          request?: string
          seen?: number
          shipment_id: string
        }
        Returns: undefined
      }
      move_shipment: {
        Args: {
          by_name?: string
          despite_missing?: boolean
          location?: string
          note?: string
          request?: string
          seen?: number
          shipment_id: string
        }
        Returns: Json
      }
      move_shipments: {
        Args: {
          by_name?: string
          location?: string
          moves: Json
          request?: string
        }
        Returns: Json
      }
      note_undelivered: {
        Args: {
          account?: string
          client_id?: string
          kind: string
          sent_to: string
        }
        Returns: undefined
      }
      open_account: {
        Args: { account: string; by_name?: string; reason: string }
        Returns: undefined
      }
      open_document: {
        Args: { by_name?: string; document_id: string; shipment_id: string }
        Returns: Json
      }
      own_data: { Args: { before?: string; before_id?: string }; Returns: Json }
      password_link: { Args: { token: string }; Returns: Json }
      past_acts: { Args: Record<PropertyKey, never>; Returns: number }
      past_retention: { Args: Record<PropertyKey, never>; Returns: Json }
      portal_account: { Args: Record<PropertyKey, never>; Returns: Json }
      portal_file: {
        Args: { document_id: string; shipment_id: string }
        Returns: Json
      }
      portal_page: {
        Args: {
          opened?: string
          page?: number
          q?: string
          stage?: number
          turn?: string
        }
        Returns: Json
      }
      portal_shipments_after: {
        Args: {
          before?: string
          before_id?: string
          q?: string
          stage?: number
          turn?: string
        }
        Returns: Json
      }
      prove_password: {
        Args: { email: string; token: string }
        Returns: boolean
      }
      record_act: {
        Args: {
          account?: string
          act: string
          after?: Json
          before?: Json
          by_name: string
          document?: string
          reason?: string
          shipment?: string
        }
        Returns: undefined
      }
      refuse_erasure: {
        Args: { account: string; by_name?: string; reason: string }
        Returns: string
      }
      release_attempts: { Args: { attempts: string[] }; Returns: undefined }
      release_mail: {
        Args: { request: string; sent_to: string }
        Returns: undefined
      }
      remove_colleague: {
        Args: { account: string; by_name?: string; reason: string }
        Returns: undefined
      }
      remove_second_factors: {
        Args: { account: string; by_name?: string; reason?: string }
        Returns: Json
      }
      require_awaited_file: { Args: { document_id: string }; Returns: boolean }
      save_arrival: {
        Args: {
          by_name?: string
          day: string
          free_until: string
          place: string
          request?: string
          seen?: number
          shipment_id: string
          size: number
        }
        Returns: undefined
      }
      save_awb: {
        Args: {
          awb: string
          by_name?: string
          reason?: string
          request?: string
          seen?: number
          shipment_id: string
        }
        Returns: string
      }
      send_back_document: {
        Args: {
          by_name?: string
          document_id: string
          reason: string
          request?: string
          seen?: number
        }
        Returns: undefined
      }
      send_client_id: {
        Args: { by_name?: string; client_id: string; request?: string }
        Returns: string
      }
      send_note: {
        Args: {
          by_name?: string
          note: string
          request?: string
          shipment_id: string
        }
        Returns: undefined
      }
      set_charge: {
        Args: {
          amount: number
          by_name?: string
          currency: string
          due_on?: string
          item: string
          note?: string
          request?: string
          seen?: number
          shipment_id: string
        }
        Returns: undefined
      }
      settle_notices: {
        Args: { ids: string[]; sent: boolean }
        Returns: undefined
      }
      shared_shipment: { Args: { token: string }; Returns: Json }
      spend_client_id: {
        Args: { client_id: string; email: string }
        Returns: boolean
      }
      spend_email_change: { Args: { token: string }; Returns: boolean }
      spend_password_link: { Args: { token: string }; Returns: boolean }
      take_attempt: {
        Args: { limits: Json; released?: string[] }
        Returns: Json
      }
      take_back_file: {
        Args: { document_id: string; seen: number }
        Returns: string
      }
      unspend_email_change: { Args: { token: string }; Returns: undefined }
      unspend_password_link: { Args: { token: string }; Returns: undefined }
      unverify_document: {
        Args: {
          by_name?: string
          document_id: string
          reason: string
          request?: string
          seen?: number
        }
        Returns: undefined
      }
      verify_document: {
        Args: {
          by_name?: string
          document_id: string
          file_version: string
          request?: string
          seen?: number
          sha256: string
        }
        Returns: undefined
      }
      want_notices: {
        Args: { account: string; wanted: boolean }
        Returns: undefined
      }
      who_asks: { Args: Record<PropertyKey, never>; Returns: Json }
      withdraw_client_id: {
        Args: { by_name?: string; client_id: string; reason: string }
        Returns: undefined
      }
    }
    Enums: {
      [_ in never]: never
    }
    CompositeTypes: {
      [_ in never]: never
    }
  }
}

type DatabaseWithoutInternals = Omit<Database, "__InternalSupabase">

type DefaultSchema = DatabaseWithoutInternals[Extract<keyof Database, "public">]

export type Tables<
  DefaultSchemaTableNameOrOptions extends
    | keyof (DefaultSchema["Tables"] & DefaultSchema["Views"])
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends (DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof (DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"] &
        DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Views"])
    : never) = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? (DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"] &
      DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Views"])[TableName] extends {
      Row: infer R
    }
    ? R
    : never
  : DefaultSchemaTableNameOrOptions extends keyof (DefaultSchema["Tables"] &
        DefaultSchema["Views"])
    ? (DefaultSchema["Tables"] &
        DefaultSchema["Views"])[DefaultSchemaTableNameOrOptions] extends {
        Row: infer R
      }
      ? R
      : never
    : never

export type TablesInsert<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema["Tables"]
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends (DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"]
    : never) = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"][TableName] extends {
      Insert: infer I
    }
    ? I
    : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema["Tables"]
    ? DefaultSchema["Tables"][DefaultSchemaTableNameOrOptions] extends {
        Insert: infer I
      }
      ? I
      : never
    : never

export type TablesUpdate<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema["Tables"]
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends (DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"]
    : never) = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"][TableName] extends {
      Update: infer U
    }
    ? U
    : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema["Tables"]
    ? DefaultSchema["Tables"][DefaultSchemaTableNameOrOptions] extends {
        Update: infer U
      }
      ? U
      : never
    : never

export type Enums<
  DefaultSchemaEnumNameOrOptions extends
    | keyof DefaultSchema["Enums"]
    | { schema: keyof DatabaseWithoutInternals },
  EnumName extends (DefaultSchemaEnumNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions["schema"]]["Enums"]
    : never) = never,
> = DefaultSchemaEnumNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions["schema"]]["Enums"][EnumName]
  : DefaultSchemaEnumNameOrOptions extends keyof DefaultSchema["Enums"]
    ? DefaultSchema["Enums"][DefaultSchemaEnumNameOrOptions]
    : never

export type CompositeTypes<
  PublicCompositeTypeNameOrOptions extends
    | keyof DefaultSchema["CompositeTypes"]
    | { schema: keyof DatabaseWithoutInternals },
  CompositeTypeName extends (PublicCompositeTypeNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions["schema"]]["CompositeTypes"]
    : never) = never,
> = PublicCompositeTypeNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions["schema"]]["CompositeTypes"][CompositeTypeName]
  : PublicCompositeTypeNameOrOptions extends keyof DefaultSchema["CompositeTypes"]
    ? DefaultSchema["CompositeTypes"][PublicCompositeTypeNameOrOptions]
    : never

export const Constants = {
  public: {
    Enums: {},
  },
} as const

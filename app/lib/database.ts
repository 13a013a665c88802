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
          shipment?: string | null
        }
        Relationships: []
      }
      client_ids: {
        Row: {
          claimed_at: string | null
          claimed_by: string | null
          client_id: string
          created_at: string
          had_turn: boolean
          password_proven_at: string | null
          used_at: string | null
          used_with: string | null
        }
        Insert: {
          claimed_at?: string | null
          claimed_by?: string | null
          client_id?: string
          created_at?: string
          had_turn?: boolean
          password_proven_at?: string | null
          used_at?: string | null
          used_with?: string | null
        }
        Update: {
          claimed_at?: string | null
          claimed_by?: string | null
          client_id?: string
          created_at?: string
          had_turn?: boolean
          password_proven_at?: string | null
          used_at?: string | null
          used_with?: string | null
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
          sha256: string | null
          shipment_id: string
          storage_path: string | null
          storage_version: string | null
          uploaded: boolean
          uploaded_at: string | null
          user_id: string
          verified: boolean
        }
        Insert: {
          file_name?: string | null
          file_size?: number | null
          id?: string
          media_type?: string | null
          name: string
          sha256?: string | null
          shipment_id: string
          storage_path?: string | null
          storage_version?: string | null
          uploaded?: boolean
          uploaded_at?: string | null
          user_id: string
          verified?: boolean
        }
        Update: {
          file_name?: string | null
          file_size?: number | null
          id?: string
          media_type?: string | null
          name?: string
          sha256?: string | null
          shipment_id?: string
          storage_path?: string | null
          storage_version?: string | null
          uploaded?: boolean
          uploaded_at?: string | null
          user_id?: string
          verified?: boolean
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
      shipments: {
        Row: {
          awb: string | null
          created_at: string
          id: string
          name: string
          request_id: string
          retain_until: string
          stage: number
          status: string
          user_id: string
        }
        Insert: {
          awb?: string | null
          created_at?: string
          id?: string
          name: string
          request_id?: string
          retain_until?: string
          stage?: number
          status?: string
          user_id: string
        }
        Update: {
          awb?: string | null
          created_at?: string
          id?: string
          name?: string
          request_id?: string
          retain_until?: string
          stage?: number
          status?: string
          user_id?: string
        }
        Relationships: []
      }
      tracking_events: {
        Row: {
          created_at: string
          id: string
          location: string | null
          shipment_id: string
          status: string
        }
        Insert: {
          created_at?: string
          id?: string
          location?: string | null
          shipment_id: string
          status: string
        }
        Update: {
          created_at?: string
          id?: string
          location?: string | null
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
    }
    Views: {
      [_ in never]: never
    }
    Functions: {
      admit_sign_up: {
        Args: { client_id: string; email: string }
        Returns: boolean
      }
      advance_shipment: {
        Args: { event_location?: string; shipment_id: string }
        Returns: {
          awb: string | null
          created_at: string
          id: string
          name: string
          request_id: string
          retain_until: string
          stage: number
          status: string
          user_id: string
        }[]
        SetofOptions: {
          from: "*"
          to: "shipments"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      delete_past_acts: { Args: Record<PropertyKey, never>; Returns: number }
      find_account: { Args: { email: string }; Returns: string }
      forget_email: { Args: { email: string }; Returns: undefined }
      forget_gone_accounts: {
        Args: Record<PropertyKey, never>
        Returns: number
      }
      issue_client_ids: {
        Args: { how_many?: number }
        Returns: {
          claimed_at: string | null
          claimed_by: string | null
          client_id: string
          created_at: string
          had_turn: boolean
          password_proven_at: string | null
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
      past_acts: { Args: Record<PropertyKey, never>; Returns: number }
      past_retention: { Args: Record<PropertyKey, never>; Returns: Json }
      portal_page: { Args: { opened?: string; page?: number }; Returns: Json }
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
      release_attempt: { Args: { attempt: string }; Returns: undefined }
      require_awaited_file: { Args: { document_id: string }; Returns: boolean }
      spend_client_id: {
        Args: { client_id: string; email: string }
        Returns: boolean
      }
      take_attempt: { Args: { limits: Json }; Returns: Json }
      who_asks: { Args: Record<PropertyKey, never>; Returns: Json }
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
